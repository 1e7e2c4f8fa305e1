; Intrinsics and instructions that C does not reach easily, each shown; compiled as it stands by clang and lowered.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@format = private constant [5 x i8] c"%lx \00"
@numbers = global [8 x i64] [i64 1, i64 -2, i64 9223372036854775807, i64 -9223372036854775808, i64 255, i64 128, i64 3, i64 77]
@floats = global [10 x double] [double 1.5, double -2.5, double 0.0, double -0.0, double 0x7FF0000000000000, double 0x7FF8000000000000, double 1.0e-310, double -3.0e9, double 300.0, double 1.0e19]
@cells = global [8 x i32] [i32 10, i32 20, i32 30, i32 40, i32 50, i32 60, i32 70, i32 80]
declare i32 @printf(ptr, ...)
define void @show(i64 %x) noinline { call i32 (ptr, ...) @printf(ptr @format, i64 %x)
 ret void }
define void @sadd_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.sadd.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @uadd_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.uadd.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ssub_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.ssub.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @usub_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.usub.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smax_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.smax.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smin_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.smin.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umax_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.umax.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umin_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i8 @llvm.umin.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @sadd_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.sadd.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @uadd_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.uadd.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ssub_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.ssub.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @usub_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.usub.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smax_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.smax.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smin_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.smin.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umax_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.umax.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umin_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %r = call i32 @llvm.umin.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @sadd_sat_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.sadd.sat.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @uadd_sat_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.uadd.sat.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @ssub_sat_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.ssub.sat.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @usub_sat_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.usub.sat.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @smax_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.smax.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @smin_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.smin.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @umax_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.umax.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @umin_i64(i64 %a, i64 %b) noinline {
  %r = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  call void @show(i64 %r)
  ret void
}
define void @sadd_sat_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.sadd.sat.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @uadd_sat_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.uadd.sat.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ssub_sat_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.ssub.sat.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @usub_sat_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.usub.sat.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smax_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.smax.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @smin_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.smin.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umax_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.umax.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @umin_i37(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i37
  %y = trunc i64 %b to i37
  %r = call i37 @llvm.umin.i37(i37 %x, i37 %y)
  %z = zext i37 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @sshl_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y0 = trunc i64 %b to i8
  %y = and i8 %y0, 7
  %r = call i8 @llvm.sshl.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @sshl_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y0 = trunc i64 %b to i32
  %y = and i32 %y0, 31
  %r = call i32 @llvm.sshl.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @sshl_sat_i64(i64 %a, i64 %b) noinline {
  %x = add i64 %a, 0
  %y0 = add i64 %b, 0
  %y = and i64 %y0, 63
  %r = call i64 @llvm.sshl.sat.i64(i64 %x, i64 %y)
  %z = add i64 %r, 0
  call void @show(i64 %z)
  ret void
}
define void @ushl_sat_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y0 = trunc i64 %b to i8
  %y = and i8 %y0, 7
  %r = call i8 @llvm.ushl.sat.i8(i8 %x, i8 %y)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ushl_sat_i32(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y0 = trunc i64 %b to i32
  %y = and i32 %y0, 31
  %r = call i32 @llvm.ushl.sat.i32(i32 %x, i32 %y)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ushl_sat_i64(i64 %a, i64 %b) noinline {
  %x = add i64 %a, 0
  %y0 = add i64 %b, 0
  %y = and i64 %y0, 63
  %r = call i64 @llvm.ushl.sat.i64(i64 %x, i64 %y)
  %z = add i64 %r, 0
  call void @show(i64 %z)
  ret void
}
define void @scmp_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i2 @llvm.scmp.i2.i8(i8 %x, i8 %y)
  %z = sext i2 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @scmp_i64(i64 %a, i64 %b) noinline {
  %x = add i64 %a, 0
  %y = add i64 %b, 0
  %r = call i2 @llvm.scmp.i2.i64(i64 %x, i64 %y)
  %z = sext i2 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ucmp_i8(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i8
  %y = trunc i64 %b to i8
  %r = call i2 @llvm.ucmp.i2.i8(i8 %x, i8 %y)
  %z = sext i2 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @ucmp_i64(i64 %a, i64 %b) noinline {
  %x = add i64 %a, 0
  %y = add i64 %b, 0
  %r = call i2 @llvm.ucmp.i2.i64(i64 %x, i64 %y)
  %z = sext i2 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @funnels(i64 %a, i64 %b) noinline {
  %x = trunc i64 %a to i32
  %y = trunc i64 %b to i32
  %l = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 %y)
  %r = call i64 @llvm.fshr.i64(i64 %a, i64 %b, i64 %a)
  %z = zext i32 %l to i64
  call void @show(i64 %z)
  call void @show(i64 %r)
  %o = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %o0 = extractvalue { i64, i1 } %o, 0
  %o1 = extractvalue { i64, i1 } %o, 1
  %o2 = zext i1 %o1 to i64
  call void @show(i64 %o0)
  call void @show(i64 %o2)
  ret void
}
define void @fptosi_sat_i8(double %a, double %b) noinline {
  %r = call i8 @llvm.fptosi.sat.i8.f64(double %a)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @fptosi_sat_i32(double %a, double %b) noinline {
  %r = call i32 @llvm.fptosi.sat.i32.f64(double %a)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @fptosi_sat_i64(double %a, double %b) noinline {
  %r = call i64 @llvm.fptosi.sat.i64.f64(double %a)
  %z = add i64 %r, 0
  call void @show(i64 %z)
  ret void
}
define void @fptosi_sat_i100(double %a, double %b) noinline {
  %r = call i100 @llvm.fptosi.sat.i100.f64(double %a)
  %s = lshr i100 %r, 30
  %z = trunc i100 %s to i64
  call void @show(i64 %z)
  ret void
}
define void @fptoui_sat_i8(double %a, double %b) noinline {
  %r = call i8 @llvm.fptoui.sat.i8.f64(double %a)
  %z = zext i8 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @fptoui_sat_i32(double %a, double %b) noinline {
  %r = call i32 @llvm.fptoui.sat.i32.f64(double %a)
  %z = zext i32 %r to i64
  call void @show(i64 %z)
  ret void
}
define void @fptoui_sat_i64(double %a, double %b) noinline {
  %r = call i64 @llvm.fptoui.sat.i64.f64(double %a)
  %z = add i64 %r, 0
  call void @show(i64 %z)
  ret void
}
define void @fptoui_sat_i100(double %a, double %b) noinline {
  %r = call i100 @llvm.fptoui.sat.i100.f64(double %a)
  %s = lshr i100 %r, 30
  %z = trunc i100 %s to i64
  call void @show(i64 %z)
  ret void
}
define void @minimum(double %a, double %b) noinline {
  %r = call double @llvm.minimum.f64(double %a, double %b)
  %n = fcmp uno double %r, %r
  %c = select i1 %n, double 0x7FF8000000000000, double %r
  %bc = bitcast double %c to i64
  call void @show(i64 %bc)
  ret void
}
define void @maximum(double %a, double %b) noinline {
  %r = call double @llvm.maximum.f64(double %a, double %b)
  %n = fcmp uno double %r, %r
  %c = select i1 %n, double 0x7FF8000000000000, double %r
  %bc = bitcast double %c to i64
  call void @show(i64 %bc)
  ret void
}
define void @minimumnum(double %a, double %b) noinline {
  %r = call double @llvm.minimumnum.f64(double %a, double %b)
  %n = fcmp uno double %r, %r
  %c = select i1 %n, double 0x7FF8000000000000, double %r
  %bc = bitcast double %c to i64
  call void @show(i64 %bc)
  ret void
}
define void @maximumnum(double %a, double %b) noinline {
  %r = call double @llvm.maximumnum.f64(double %a, double %b)
  %n = fcmp uno double %r, %r
  %c = select i1 %n, double 0x7FF8000000000000, double %r
  %bc = bitcast double %c to i64
  call void @show(i64 %bc)
  ret void
}
define void @classes(double %a, double %b) noinline {
  %f = fptrunc double %a to float
  %l = fpext double %a to x86_fp80
  %d0 = call i1 @llvm.is.fpclass.f64(double %a, i32 1)
  %f0 = call i1 @llvm.is.fpclass.f32(float %f, i32 1)
  %l0 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 1)
  %x0 = zext i1 %d0 to i64
  %y0 = select i1 %f0, i64 2, i64 0
  %z0 = select i1 %l0, i64 4, i64 0
  %s0 = add i64 %x0, %y0
  %t0 = add i64 %s0, %z0
  call void @show(i64 %t0)
  %d1 = call i1 @llvm.is.fpclass.f64(double %a, i32 2)
  %f1 = call i1 @llvm.is.fpclass.f32(float %f, i32 2)
  %l1 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 2)
  %x1 = zext i1 %d1 to i64
  %y1 = select i1 %f1, i64 2, i64 0
  %z1 = select i1 %l1, i64 4, i64 0
  %s1 = add i64 %x1, %y1
  %t1 = add i64 %s1, %z1
  call void @show(i64 %t1)
  %d2 = call i1 @llvm.is.fpclass.f64(double %a, i32 4)
  %f2 = call i1 @llvm.is.fpclass.f32(float %f, i32 4)
  %l2 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 4)
  %x2 = zext i1 %d2 to i64
  %y2 = select i1 %f2, i64 2, i64 0
  %z2 = select i1 %l2, i64 4, i64 0
  %s2 = add i64 %x2, %y2
  %t2 = add i64 %s2, %z2
  call void @show(i64 %t2)
  %d3 = call i1 @llvm.is.fpclass.f64(double %a, i32 8)
  %f3 = call i1 @llvm.is.fpclass.f32(float %f, i32 8)
  %l3 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 8)
  %x3 = zext i1 %d3 to i64
  %y3 = select i1 %f3, i64 2, i64 0
  %z3 = select i1 %l3, i64 4, i64 0
  %s3 = add i64 %x3, %y3
  %t3 = add i64 %s3, %z3
  call void @show(i64 %t3)
  %d4 = call i1 @llvm.is.fpclass.f64(double %a, i32 16)
  %f4 = call i1 @llvm.is.fpclass.f32(float %f, i32 16)
  %l4 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 16)
  %x4 = zext i1 %d4 to i64
  %y4 = select i1 %f4, i64 2, i64 0
  %z4 = select i1 %l4, i64 4, i64 0
  %s4 = add i64 %x4, %y4
  %t4 = add i64 %s4, %z4
  call void @show(i64 %t4)
  %d5 = call i1 @llvm.is.fpclass.f64(double %a, i32 32)
  %f5 = call i1 @llvm.is.fpclass.f32(float %f, i32 32)
  %l5 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 32)
  %x5 = zext i1 %d5 to i64
  %y5 = select i1 %f5, i64 2, i64 0
  %z5 = select i1 %l5, i64 4, i64 0
  %s5 = add i64 %x5, %y5
  %t5 = add i64 %s5, %z5
  call void @show(i64 %t5)
  %d6 = call i1 @llvm.is.fpclass.f64(double %a, i32 64)
  %f6 = call i1 @llvm.is.fpclass.f32(float %f, i32 64)
  %l6 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 64)
  %x6 = zext i1 %d6 to i64
  %y6 = select i1 %f6, i64 2, i64 0
  %z6 = select i1 %l6, i64 4, i64 0
  %s6 = add i64 %x6, %y6
  %t6 = add i64 %s6, %z6
  call void @show(i64 %t6)
  %d7 = call i1 @llvm.is.fpclass.f64(double %a, i32 128)
  %f7 = call i1 @llvm.is.fpclass.f32(float %f, i32 128)
  %l7 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 128)
  %x7 = zext i1 %d7 to i64
  %y7 = select i1 %f7, i64 2, i64 0
  %z7 = select i1 %l7, i64 4, i64 0
  %s7 = add i64 %x7, %y7
  %t7 = add i64 %s7, %z7
  call void @show(i64 %t7)
  %d8 = call i1 @llvm.is.fpclass.f64(double %a, i32 256)
  %f8 = call i1 @llvm.is.fpclass.f32(float %f, i32 256)
  %l8 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 256)
  %x8 = zext i1 %d8 to i64
  %y8 = select i1 %f8, i64 2, i64 0
  %z8 = select i1 %l8, i64 4, i64 0
  %s8 = add i64 %x8, %y8
  %t8 = add i64 %s8, %z8
  call void @show(i64 %t8)
  %d9 = call i1 @llvm.is.fpclass.f64(double %a, i32 512)
  %f9 = call i1 @llvm.is.fpclass.f32(float %f, i32 512)
  %l9 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 512)
  %x9 = zext i1 %d9 to i64
  %y9 = select i1 %f9, i64 2, i64 0
  %z9 = select i1 %l9, i64 4, i64 0
  %s9 = add i64 %x9, %y9
  %t9 = add i64 %s9, %z9
  call void @show(i64 %t9)
  %d10 = call i1 @llvm.is.fpclass.f64(double %a, i32 3)
  %f10 = call i1 @llvm.is.fpclass.f32(float %f, i32 3)
  %l10 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 3)
  %x10 = zext i1 %d10 to i64
  %y10 = select i1 %f10, i64 2, i64 0
  %z10 = select i1 %l10, i64 4, i64 0
  %s10 = add i64 %x10, %y10
  %t10 = add i64 %s10, %z10
  call void @show(i64 %t10)
  %d11 = call i1 @llvm.is.fpclass.f64(double %a, i32 516)
  %f11 = call i1 @llvm.is.fpclass.f32(float %f, i32 516)
  %l11 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 516)
  %x11 = zext i1 %d11 to i64
  %y11 = select i1 %f11, i64 2, i64 0
  %z11 = select i1 %l11, i64 4, i64 0
  %s11 = add i64 %x11, %y11
  %t11 = add i64 %s11, %z11
  call void @show(i64 %t11)
  %d12 = call i1 @llvm.is.fpclass.f64(double %a, i32 264)
  %f12 = call i1 @llvm.is.fpclass.f32(float %f, i32 264)
  %l12 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 264)
  %x12 = zext i1 %d12 to i64
  %y12 = select i1 %f12, i64 2, i64 0
  %z12 = select i1 %l12, i64 4, i64 0
  %s12 = add i64 %x12, %y12
  %t12 = add i64 %s12, %z12
  call void @show(i64 %t12)
  %d13 = call i1 @llvm.is.fpclass.f64(double %a, i32 144)
  %f13 = call i1 @llvm.is.fpclass.f32(float %f, i32 144)
  %l13 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 144)
  %x13 = zext i1 %d13 to i64
  %y13 = select i1 %f13, i64 2, i64 0
  %z13 = select i1 %l13, i64 4, i64 0
  %s13 = add i64 %x13, %y13
  %t13 = add i64 %s13, %z13
  call void @show(i64 %t13)
  %d14 = call i1 @llvm.is.fpclass.f64(double %a, i32 96)
  %f14 = call i1 @llvm.is.fpclass.f32(float %f, i32 96)
  %l14 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 96)
  %x14 = zext i1 %d14 to i64
  %y14 = select i1 %f14, i64 2, i64 0
  %z14 = select i1 %l14, i64 4, i64 0
  %s14 = add i64 %x14, %y14
  %t14 = add i64 %s14, %z14
  call void @show(i64 %t14)
  %d15 = call i1 @llvm.is.fpclass.f64(double %a, i32 1023)
  %f15 = call i1 @llvm.is.fpclass.f32(float %f, i32 1023)
  %l15 = call i1 @llvm.is.fpclass.f80(x86_fp80 %l, i32 1023)
  %x15 = zext i1 %d15 to i64
  %y15 = select i1 %f15, i64 2, i64 0
  %z15 = select i1 %l15, i64 4, i64 0
  %s15 = add i64 %x15, %y15
  %t15 = add i64 %s15, %z15
  call void @show(i64 %t15)
  ret void
}
define void @libm(double %a, double %b) noinline {
  %c = call double @llvm.copysign.f64(double %a, double %b)
  %d = call double @llvm.roundeven.f64(double %a)
  %e = call double @llvm.canonicalize.f64(double %c)
  %n = fcmp uno double %a, %a
  %f = select i1 %n, double 1.0, double %e
  %g = select i1 %n, double 1.0, double %d
  %bf = bitcast double %f to i64
  call void @show(i64 %bf)
  %bg = bitcast double %g to i64
  call void @show(i64 %bg)
  %h = fneg double %g
  %bh = bitcast double %h to i64
  call void @show(i64 %bh)
  ret void
}
define void @constrained(double %a, double %b) strictfp noinline {
  %s = call double @llvm.experimental.constrained.fadd.f64(double %a, double %b, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp
  %p = call double @llvm.experimental.constrained.fmul.f64(double %a, double 3.0, metadata !"round.tonearest", metadata !"fpexcept.ignore") strictfp
  %n = call i1 @llvm.experimental.constrained.fcmp.f64(double %s, double %p, metadata !"ult", metadata !"fpexcept.ignore") strictfp
  %m = call i1 @llvm.experimental.constrained.fcmps.f64(double %a, double %b, metadata !"oge", metadata !"fpexcept.ignore") strictfp
  %t = call float @llvm.experimental.constrained.fptrunc.f32.f64(double %a, metadata !"round.tonearest", metadata !"fpexcept.ignore") strictfp
  %i = call double @llvm.experimental.constrained.sitofp.f64.i64(i64 -7, metadata !"round.tonearest", metadata !"fpexcept.ignore") strictfp
  %nz = zext i1 %n to i64
  %mz = zext i1 %m to i64
  %o = fcmp uno float %t, %t
  %tb = bitcast float %t to i32
  %tc = select i1 %o, i32 7, i32 %tb
  %tz = zext i32 %tc to i64
  call void @show(i64 %nz)
  call void @show(i64 %mz)
  call void @show(i64 %tz)
  %bi = bitcast double %i to i64
  call void @show(i64 %bi)
  ret void
}
define void @show4(<4 x i32> %v) noinline {
  %a = extractelement <4 x i32> %v, i32 0
  %b = extractelement <4 x i32> %v, i32 1
  %c = extractelement <4 x i32> %v, i32 2
  %d = extractelement <4 x i32> %v, i32 3
  %e = zext i32 %a to i64
  %f = zext i32 %b to i64
  %g = zext i32 %c to i64
  %h = zext i32 %d to i64
  call void @show(i64 %e)
  call void @show(i64 %f)
  call void @show(i64 %g)
  call void @show(i64 %h)
  ret void
}
define void @vectors(i64 %a, i64 %b) noinline {
  %m8 = trunc i64 %a to i4
  %mask = bitcast i4 %m8 to <4 x i1>
  %x = load <4 x i32>, ptr @cells
  %y = load <4 x i32>, ptr getelementptr (i8, ptr @cells, i64 16)
  %l = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 4 @cells, <4 x i1> %mask, <4 x i32> %y)
  call void @show4(<4 x i32> %l)
  %out = alloca [8 x i32]
  store <4 x i32> %y, ptr %out
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %x, ptr align 4 %out, <4 x i1> %mask)
  %s = load <4 x i32>, ptr %out
  call void @show4(<4 x i32> %s)
  %i = load <4 x i64>, ptr @numbers
  %j = and <4 x i64> %i, <i64 7, i64 7, i64 7, i64 7>
  %p = getelementptr i32, ptr @cells, <4 x i64> %j
  %g = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> align 4 %p, <4 x i1> %mask, <4 x i32> %x)
  call void @show4(<4 x i32> %g)
  %q = getelementptr i32, ptr %out, <4 x i64> <i64 3, i64 1, i64 0, i64 2>
  call void @llvm.masked.scatter.v4i32.v4p0(<4 x i32> %g, <4 x ptr> align 4 %q, <4 x i1> %mask)
  %t = load <4 x i32>, ptr %out
  call void @show4(<4 x i32> %t)
  %e = call <4 x i32> @llvm.masked.expandload.v4i32(ptr align 4 @cells, <4 x i1> %mask, <4 x i32> zeroinitializer)
  call void @show4(<4 x i32> %e)
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %y, ptr align 4 %out, <4 x i1> %mask)
  %u = load <4 x i32>, ptr %out
  call void @show4(<4 x i32> %u)
  %r = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %x)
  call void @show4(<4 x i32> %r)
  %v = call <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32> %x, <4 x i32> %y)
  %w = call <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32> %v, i64 4)
  call void @show4(<4 x i32> %w)
  %k = call { <4 x i32>, <4 x i32> } @llvm.vector.deinterleave2.v8i32(<8 x i32> %v)
  %k1 = extractvalue { <4 x i32>, <4 x i32> } %k, 1
  call void @show4(<4 x i32> %k1)
  %z = call <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32> %v, <4 x i32> %s, i64 4)
  %z1 = shufflevector <8 x i32> %z, <8 x i32> poison, <4 x i32> <i32 7, i32 0, i32 5, i32 2>
  call void @show4(<4 x i32> %z1)
  %all = bitcast <4 x i1> %mask to i4
  %all8 = zext i4 %all to i64
  call void @show(i64 %all8)
  %ra = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %s)
  %rm = call i32 @llvm.vector.reduce.umax.v4i32(<4 x i32> %l)
  %rs = call i32 @llvm.vector.reduce.smin.v4i32(<4 x i32> %g)
  %rx = call i32 @llvm.vector.reduce.xor.v4i32(<4 x i32> %t)
  %ro = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %mask)
  %sum = add i32 %ra, %rm
  %sum2 = mul i32 %sum, %rs
  %sum3 = xor i32 %sum2, %rx
  %sum4 = zext i32 %sum3 to i64
  %ro1 = zext i1 %ro to i64
  call void @show(i64 %sum4)
  call void @show(i64 %ro1)
  ret void
}
define void @odd_vectors(i64 %a, i64 %b) noinline {
  %p = alloca [4 x i64]
  %x = trunc i64 %a to i21
  %v = bitcast i21 %x to <3 x i7>
  %w = add <3 x i7> %v, <i7 1, i7 2, i7 3>
  store <3 x i7> %w, ptr %p
  %l = load <3 x i7>, ptr %p
  %y = bitcast <3 x i7> %l to i21
  %z = zext i21 %y to i64
  call void @show(i64 %z)
  %m = bitcast i64 %b to <64 x i1>
  %n = xor <64 x i1> %m, splat (i1 true)
  store <64 x i1> %n, ptr %p
  %o = load i64, ptr %p
  call void @show(i64 %o)
  %q = bitcast i64 %a to <8 x i8>
  %q2 = bitcast <8 x i8> %q to <2 x i32>
  %q3 = bitcast <2 x i32> %q2 to <4 x i16>
  %q4 = mul <4 x i16> %q3, %q3
  %q5 = bitcast <4 x i16> %q4 to double
  %q6 = bitcast double %q5 to i64
  call void @show(i64 %q6)
  %i = trunc i64 %b to i32
  %i2 = and i32 %i, 7
  %e = extractelement <8 x i8> %q, i32 %i2
  %f = insertelement <8 x i8> %q, i8 %e, i32 3
  %g = bitcast <8 x i8> %f to i64
  call void @show(i64 %g)
  %h = sext <8 x i8> %q to <8 x i32>
  %h2 = icmp slt <8 x i32> %h, zeroinitializer
  %h3 = bitcast <8 x i1> %h2 to i8
  %h4 = zext i8 %h3 to i64
  call void @show(i64 %h4)
  ret void
}
define { i64, <4 x i32>, i8, [2 x i16] } @aggregate({ i8, i64 } %s, [2 x i16] %t, <4 x i32> %v) noinline {
  %a = extractvalue { i8, i64 } %s, 0
  %b = extractvalue { i8, i64 } %s, 1
  %r0 = insertvalue { i64, <4 x i32>, i8, [2 x i16] } poison, i64 %b, 0
  %v2 = add <4 x i32> %v, %v
  %r1 = insertvalue { i64, <4 x i32>, i8, [2 x i16] } %r0, <4 x i32> %v2, 1
  %r2 = insertvalue { i64, <4 x i32>, i8, [2 x i16] } %r1, i8 %a, 2
  %t1 = extractvalue [2 x i16] %t, 1
  %r3 = insertvalue { i64, <4 x i32>, i8, [2 x i16] } %r2, [2 x i16] %t, 3
  %r4 = insertvalue { i64, <4 x i32>, i8, [2 x i16] } %r3, i16 %t1, 3, 0
  ret { i64, <4 x i32>, i8, [2 x i16] } %r4
}
define void @aggregates(i64 %a, i64 %b) noinline {
entry:
  %p = alloca { i64, <4 x i32>, i8, [2 x i16] }
  %a8 = trunc i64 %a to i8
  %s0 = insertvalue { i8, i64 } poison, i8 %a8, 0
  %s1 = insertvalue { i8, i64 } %s0, i64 %b, 1
  %v = load <4 x i32>, ptr @cells
  %c = icmp slt i64 %a, %b
  br i1 %c, label %then, label %else
then:
  %r1 = call { i64, <4 x i32>, i8, [2 x i16] } @aggregate({ i8, i64 } %s1, [2 x i16] [i16 5, i16 6], <4 x i32> %v)
  br label %join
else:
  %r2 = call { i64, <4 x i32>, i8, [2 x i16] } @aggregate({ i8, i64 } { i8 3, i64 4 }, [2 x i16] [i16 7, i16 8], <4 x i32> <i32 1, i32 2, i32 3, i32 4>)
  br label %join
join:
  %r = phi { i64, <4 x i32>, i8, [2 x i16] } [ %r1, %then ], [ %r2, %else ]
  %d = select i1 %c, { i64, <4 x i32>, i8, [2 x i16] } %r, { i64, <4 x i32>, i8, [2 x i16] } { i64 1, <4 x i32> zeroinitializer, i8 2, [2 x i16] zeroinitializer }
  store { i64, <4 x i32>, i8, [2 x i16] } %d, ptr %p
  %w = load { i64, <4 x i32>, i8, [2 x i16] }, ptr %p
  %w0 = extractvalue { i64, <4 x i32>, i8, [2 x i16] } %w, 0
  call void @show(i64 %w0)
  %w1 = extractvalue { i64, <4 x i32>, i8, [2 x i16] } %r, 1
  call void @show4(<4 x i32> %w1)
  %w2 = extractvalue { i64, <4 x i32>, i8, [2 x i16] } %w, 3, 0
  %w3 = zext i16 %w2 to i64
  call void @show(i64 %w3)
  %q = call ptr @llvm.ptrmask.p0.i64(ptr getelementptr (i8, ptr @cells, i64 13), i64 -4)
  %x = load i32, ptr %q
  %x1 = zext i32 %x to i64
  call void @show(i64 %x1)
  %old = atomicrmw nand ptr %q, i32 7 seq_cst
  %old2 = atomicrmw umin ptr %q, i32 40 seq_cst
  %cx = cmpxchg ptr %q, i32 40, i32 40 seq_cst seq_cst
  %cx1 = extractvalue { i32, i1 } %cx, 1
  %o1 = zext i32 %old to i64
  %o2 = zext i32 %old2 to i64
  %o3 = zext i1 %cx1 to i64
  call void @show(i64 %o1)
  call void @show(i64 %o2)
  call void @show(i64 %o3)
  ret void
}
define i32 @main() {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.end ]
  %pa = getelementptr [8 x i64], ptr @numbers, i64 0, i64 %i
  %a = load i64, ptr %pa
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %pb = getelementptr [8 x i64], ptr @numbers, i64 0, i64 %j
  %b = load i64, ptr %pb
  call void @sadd_sat_i8(i64 %a, i64 %b)
  call void @uadd_sat_i8(i64 %a, i64 %b)
  call void @ssub_sat_i8(i64 %a, i64 %b)
  call void @usub_sat_i8(i64 %a, i64 %b)
  call void @smax_i8(i64 %a, i64 %b)
  call void @smin_i8(i64 %a, i64 %b)
  call void @umax_i8(i64 %a, i64 %b)
  call void @umin_i8(i64 %a, i64 %b)
  call void @sadd_sat_i32(i64 %a, i64 %b)
  call void @uadd_sat_i32(i64 %a, i64 %b)
  call void @ssub_sat_i32(i64 %a, i64 %b)
  call void @usub_sat_i32(i64 %a, i64 %b)
  call void @smax_i32(i64 %a, i64 %b)
  call void @smin_i32(i64 %a, i64 %b)
  call void @umax_i32(i64 %a, i64 %b)
  call void @umin_i32(i64 %a, i64 %b)
  call void @sadd_sat_i64(i64 %a, i64 %b)
  call void @uadd_sat_i64(i64 %a, i64 %b)
  call void @ssub_sat_i64(i64 %a, i64 %b)
  call void @usub_sat_i64(i64 %a, i64 %b)
  call void @smax_i64(i64 %a, i64 %b)
  call void @smin_i64(i64 %a, i64 %b)
  call void @umax_i64(i64 %a, i64 %b)
  call void @umin_i64(i64 %a, i64 %b)
  call void @sadd_sat_i37(i64 %a, i64 %b)
  call void @uadd_sat_i37(i64 %a, i64 %b)
  call void @ssub_sat_i37(i64 %a, i64 %b)
  call void @usub_sat_i37(i64 %a, i64 %b)
  call void @smax_i37(i64 %a, i64 %b)
  call void @smin_i37(i64 %a, i64 %b)
  call void @umax_i37(i64 %a, i64 %b)
  call void @umin_i37(i64 %a, i64 %b)
  call void @sshl_sat_i8(i64 %a, i64 %b)
  call void @sshl_sat_i32(i64 %a, i64 %b)
  call void @sshl_sat_i64(i64 %a, i64 %b)
  call void @ushl_sat_i8(i64 %a, i64 %b)
  call void @ushl_sat_i32(i64 %a, i64 %b)
  call void @ushl_sat_i64(i64 %a, i64 %b)
  call void @scmp_i8(i64 %a, i64 %b)
  call void @scmp_i64(i64 %a, i64 %b)
  call void @ucmp_i8(i64 %a, i64 %b)
  call void @ucmp_i64(i64 %a, i64 %b)
  call void @funnels(i64 %a, i64 %b)
  call void @vectors(i64 %a, i64 %b)
  call void @odd_vectors(i64 %a, i64 %b)
  call void @aggregates(i64 %a, i64 %b)
  %j.next = add i64 %j, 1
  %jc = icmp eq i64 %j.next, 8
  br i1 %jc, label %outer.end, label %inner
outer.end:
  %i.next = add i64 %i, 1
  %ic = icmp eq i64 %i.next, 8
  br i1 %ic, label %fouter, label %outer
fouter:
  %k = phi i64 [ 0, %outer.end ], [ %k.next, %fouter.end ]
  %pc = getelementptr [10 x double], ptr @floats, i64 0, i64 %k
  %c = load double, ptr %pc
  br label %finner
finner:
  %l = phi i64 [ 0, %fouter ], [ %l.next, %finner ]
  %pd = getelementptr [10 x double], ptr @floats, i64 0, i64 %l
  %d = load double, ptr %pd
  call void @fptosi_sat_i8(double %c, double %d)
  call void @fptosi_sat_i32(double %c, double %d)
  call void @fptosi_sat_i64(double %c, double %d)
  call void @fptosi_sat_i100(double %c, double %d)
  call void @fptoui_sat_i8(double %c, double %d)
  call void @fptoui_sat_i32(double %c, double %d)
  call void @fptoui_sat_i64(double %c, double %d)
  call void @fptoui_sat_i100(double %c, double %d)
  call void @minimum(double %c, double %d)
  call void @maximum(double %c, double %d)
  call void @minimumnum(double %c, double %d)
  call void @maximumnum(double %c, double %d)
  call void @classes(double %c, double %d)
  call void @libm(double %c, double %d)
  call void @constrained(double %c, double %d)
  %l.next = add i64 %l, 1
  %lc = icmp eq i64 %l.next, 10
  br i1 %lc, label %fouter.end, label %finner
fouter.end:
  %k.next = add i64 %k, 1
  %kc = icmp eq i64 %k.next, 10
  br i1 %kc, label %end, label %fouter
end:
  ret i32 0
}
declare <4 x i32> @llvm.masked.expandload.v4i32(ptr, <4 x i1>, <4 x i32>)
declare <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr>, <4 x i1>, <4 x i32>)
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
declare <4 x i32> @llvm.vector.extract.v4i32.v8i32(<8 x i32>, i64)
declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
declare <8 x i32> @llvm.vector.insert.v8i32.v4i32(<8 x i32>, <4 x i32>, i64)
declare <8 x i32> @llvm.vector.interleave2.v8i32(<4 x i32>, <4 x i32>)
declare double @llvm.canonicalize.f64(double)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)
declare double @llvm.experimental.constrained.fmul.f64(double, double, metadata, metadata)
declare double @llvm.experimental.constrained.sitofp.f64.i64(i64, metadata, metadata)
declare double @llvm.maximum.f64(double, double)
declare double @llvm.maximumnum.f64(double, double)
declare double @llvm.minimum.f64(double, double)
declare double @llvm.minimumnum.f64(double, double)
declare double @llvm.roundeven.f64(double)
declare float @llvm.experimental.constrained.fptrunc.f32.f64(double, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmp.f64(double, double, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmps.f64(double, double, metadata, metadata)
declare i1 @llvm.is.fpclass.f32(float, i32 immarg)
declare i1 @llvm.is.fpclass.f64(double, i32 immarg)
declare i1 @llvm.is.fpclass.f80(x86_fp80, i32 immarg)
declare i1 @llvm.vector.reduce.or.v4i1(<4 x i1>)
declare i100 @llvm.fptosi.sat.i100.f64(double)
declare i100 @llvm.fptoui.sat.i100.f64(double)
declare i2 @llvm.scmp.i2.i64(i64, i64)
declare i2 @llvm.scmp.i2.i8(i8, i8)
declare i2 @llvm.ucmp.i2.i64(i64, i64)
declare i2 @llvm.ucmp.i2.i8(i8, i8)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i32 @llvm.fptoui.sat.i32.f64(double)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.sshl.sat.i32(i32, i32)
declare i32 @llvm.ssub.sat.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.ushl.sat.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.smin.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.umax.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.xor.v4i32(<4 x i32>)
declare i37 @llvm.sadd.sat.i37(i37, i37)
declare i37 @llvm.smax.i37(i37, i37)
declare i37 @llvm.smin.i37(i37, i37)
declare i37 @llvm.ssub.sat.i37(i37, i37)
declare i37 @llvm.uadd.sat.i37(i37, i37)
declare i37 @llvm.umax.i37(i37, i37)
declare i37 @llvm.umin.i37(i37, i37)
declare i37 @llvm.usub.sat.i37(i37, i37)
declare i64 @llvm.fptosi.sat.i64.f64(double)
declare i64 @llvm.fptoui.sat.i64.f64(double)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i64 @llvm.sadd.sat.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.sshl.sat.i64(i64, i64)
declare i64 @llvm.ssub.sat.i64(i64, i64)
declare i64 @llvm.uadd.sat.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.ushl.sat.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare i8 @llvm.fptosi.sat.i8.f64(double)
declare i8 @llvm.fptoui.sat.i8.f64(double)
declare i8 @llvm.sadd.sat.i8(i8, i8)
declare i8 @llvm.smax.i8(i8, i8)
declare i8 @llvm.smin.i8(i8, i8)
declare i8 @llvm.sshl.sat.i8(i8, i8)
declare i8 @llvm.ssub.sat.i8(i8, i8)
declare i8 @llvm.uadd.sat.i8(i8, i8)
declare i8 @llvm.umax.i8(i8, i8)
declare i8 @llvm.umin.i8(i8, i8)
declare i8 @llvm.ushl.sat.i8(i8, i8)
declare i8 @llvm.usub.sat.i8(i8, i8)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr, <4 x i1>)
declare void @llvm.masked.scatter.v4i32.v4p0(<4 x i32>, <4 x ptr>, <4 x i1>)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, <4 x i1>)
declare { <4 x i32>, <4 x i32> } @llvm.vector.deinterleave2.v8i32(<8 x i32>)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)
