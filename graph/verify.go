package graph

import "os"

// verifying makes every superstep check itself (HOLDFAST_VERIFY=1): the state against the log, and the log's own sums. It
// costs the size of the state in each step and is for tests.
var verifying = os.Getenv("HOLDFAST_VERIFY") == "1"
