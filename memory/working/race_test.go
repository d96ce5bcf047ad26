//go:build race

package working_test

const raceEnabled = true
