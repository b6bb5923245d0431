//go:build integration

package integration

import (
	"os"
	"testing"
)

// TestMain keeps the tests from the cache of the user who runs them.
func TestMain(m *testing.M) {
	if err := os.Setenv("GPULINT_NO_CACHE", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
