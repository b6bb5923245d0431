package compat

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"
)

// Driver is the version of a driver, such as 535.161.08. Without its later
// parts it is a branch, of which any release may be meant.
type Driver struct {
	text  string
	v     *version.Version
	parts int
}

// String is the version as NVIDIA writes it.
func (d Driver) String() string { return d.text }

// Branch is the number of the driver branch: 535.
func (d Driver) Branch() int { return d.v.Segments()[0] }

// Partial says that only the branch, or not the whole version, is known.
func (d Driver) Partial() bool { return d.parts < 2 }

var (
	driverPattern = regexp.MustCompile(`^[RrVv]?([1-9]\d{2})(\.\d{1,3}){0,2}$`)
	cudaPattern   = regexp.MustCompile(`^\d{1,2}(\.\d{1,8}){0,3}$`)
)

// ParseDriver reads a driver version (535.161.08, v535.161.08, 304.137) or a
// branch (535, R535). The error says what a version looks like.
func ParseDriver(s string) (Driver, error) {
	t := strings.TrimSpace(s)
	if len(t) > 16 || !driverPattern.MatchString(t) || (t[0] == 'R' || t[0] == 'r') && strings.Contains(t, ".") {
		return Driver{}, fmt.Errorf("%q is no driver version: want one like 535.161.08, or a branch like 535", clip(s))
	}
	t = strings.TrimLeft(t, "RrVv") // one at most
	v, err := version.NewVersion(t)
	if err != nil {
		return Driver{}, fmt.Errorf("%q is no driver version: %w", clip(s), err)
	}
	return Driver{text: t, v: v, parts: strings.Count(t, ".") + 1}, nil
}

// compare says whether a driver is older than another version (-1), the same
// or newer (1). It is false where the parts that are not known decide.
func (d Driver) compare(o Driver) (int, bool) {
	if d.Partial() && d.Branch() == o.Branch() && !o.Partial() {
		return 0, false
	}
	return d.v.Compare(o.v), true
}

// NewerDriver says whether driver version a is newer than b. What is no
// version is older than every other.
func NewerDriver(a, b string) bool {
	x, err := ParseDriver(a)
	if err != nil {
		return false
	}
	y, err := ParseDriver(b)
	return err != nil || x.v.GreaterThan(y.v)
}

// CUDA is the version of a CUDA toolkit or runtime; the minor may be unknown.
type CUDA struct {
	Major, Minor int
	// HasMinor is false for a bare major, as libcudart.so.12 gives it.
	HasMinor bool
}

// String is major.minor, or the major alone.
func (c CUDA) String() string {
	if !c.HasMinor {
		return strconv.Itoa(c.Major)
	}
	return fmt.Sprintf("%d.%d", c.Major, c.Minor)
}

// compare orders versions by major and minor; a missing minor counts as 0.
func (c CUDA) compare(o CUDA) int {
	if c.Major != o.Major {
		return c.Major - o.Major
	}
	return c.Minor - o.Minor
}

// ParseCUDA reads a CUDA version: 12, 12.4, 12.4.127, and 12.1.20230222 as
// some version.json have it. Only major and minor are kept.
func ParseCUDA(s string) (CUDA, error) {
	t := strings.TrimSpace(s)
	if !cudaPattern.MatchString(t) {
		return CUDA{}, fmt.Errorf("%q is no CUDA version: want one like 12.4", clip(s))
	}
	parts := strings.Split(t, ".")
	c := CUDA{}
	c.Major, _ = strconv.Atoi(parts[0]) // the pattern has digits only
	if len(parts) > 1 {
		if len(parts[1]) > 3 {
			return CUDA{}, fmt.Errorf("%q is no CUDA version: want one like 12.4", clip(s))
		}
		c.Minor, _ = strconv.Atoi(parts[1])
		c.HasMinor = true
	}
	return c, nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
