package spectest_test

// later lists the lines of docs/spec.md that are planned for a later release. A line leaves this list when its test arrives.
var later = map[string]string{}
