// Package bench measures gpulint against a peer or a physical limit in the same
// run: make bench. Its numbers are ratios, since times differ from machine to
// machine. It is no part of the tests.
package bench
