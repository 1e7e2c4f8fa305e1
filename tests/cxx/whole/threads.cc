// Threads, what they wait for, and what ends with them. A byte is read.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable ready;
static std::queue<int> work;
static std::atomic<int> ended;

struct Ends {
  std::atomic<int> *count;
  ~Ends() { ++*count; }
};
static int made;
static std::atomic<int> gone;
struct Made {
  Made() { made++; }
};

/* Made by whoever comes first, and read by the other without a lock. */
static int level, stored;
static std::once_flag given;
struct Config {
  int size;
  Config() : size(level + 2) {}
};
static int size_of_config() {
  static Config config;
  return config.size;
}
static int once_given() {
  std::call_once(given, [] { stored = 4; });
  return stored;
}

static void touch() {
  static Made once;
  static thread_local Ends ends{&gone};
  (void)once;
  (void)ends;
}

int main() {
  unsigned char byte = 0;
  std::cin.read(reinterpret_cast<char *>(&byte), 1);
  if (!std::cin) return 1;
  int sum = 0;
  std::thread consumer([&] {
    for (int taken = 0; taken < 3; taken++) {
      std::unique_lock<std::mutex> held(lock);
      ready.wait(held, [] { return !work.empty(); });
      sum += work.front();
      work.pop();
    }
    touch();
    ended++;
  });
  for (int i = 0; i < 3; i++) {
    std::lock_guard<std::mutex> held(lock);
    work.push(i + (byte > 200));
    ready.notify_one();
  }
  consumer.join();
  std::vector<std::thread> all;
  std::once_flag once;
  int calls = 0;
  for (int i = 0; i < 2; i++)
    all.emplace_back([&] {
      std::call_once(once, [&] { calls++; });
      touch();
      ended++;
    });
  for (auto &thread : all) thread.join();
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread keeps([&promise, byte] {
    if (byte == 9)
      promise.set_exception(std::make_exception_ptr(std::runtime_error("nine")));
    else
      promise.set_value(byte % 2);
  });
  try {
    std::cout << "future " << future.get() << '\n';
  } catch (const std::exception &error) {
    std::cout << "future: " << error.what() << '\n';
  }
  keeps.join();
  std::barrier<> meeting(2);
  int halves[2] = {0, 0}, seen[2] = {0, 0};
  auto half = [&](int i) {
    halves[i] = size_of_config() + once_given();
    meeting.arrive_and_wait();
    seen[i] = halves[1 - i];
  };
  std::thread other(half, 1);
  half(0);
  other.join();
  std::cout << seen[0] << ' ' << seen[1] << std::endl;
  std::shared_ptr<int> shared = std::make_shared<int>(5);
  std::weak_ptr<int> weak = shared;
  shared.reset();
  std::cout << (sum > 3 ? "more" : "three") << ' ' << ended << ' ' << calls << ' ' << made << ' ' << gone << ' ' << weak.expired() << std::endl;
  return 0;
}
