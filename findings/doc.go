// Package findings holds the steps between the rules and the report: small
// pure functions from findings to findings. [Process] runs them in order.
package findings
