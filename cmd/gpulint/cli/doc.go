// Package cli is gpulint's command line: it parses flags, calls the rooms in
// order, writes the reports and chooses the exit status. It holds no logic of
// its own.
package cli
