// The first script of a page under test: notes what must not happen.
const complaints = [];
const boom = () => complaints.push("text of the program ran");
addEventListener("error", e => complaints.push(`error: ${e.message || e.target.tagName}`), true);
addEventListener("unhandledrejection", e => complaints.push(`rejection: ${e.reason}`));
addEventListener("securitypolicyviolation", e => complaints.push(`loads ${e.blockedURI} (${e.violatedDirective})`));
