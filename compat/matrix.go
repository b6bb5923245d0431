package compat

import (
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/gpulint/gpulint/facts"
)

// Reason is a step of a verdict.
type Reason = facts.Reason

// Matrix are the compatibility tables.
type Matrix struct {
	version  string
	branches []branch // by number
	families []family
	toolkits []toolkit // by version
	errors   map[int]row
}

// branch is a driver branch with the CUDA version of its drivers.
type branch struct {
	number int
	cuda   CUDA
	row    row
}

// family is the lowest driver of a CUDA family on a platform.
type family struct {
	name, platform string
	floor          Driver
	row            row
}

// toolkit is one toolkit release.
type toolkit struct {
	version string
	cuda    CUDA
	cudart  string
	// driver is the driver that comes with it; branch stands where the
	// version is not known.
	driver, branch string
	row            row
}

// Default are the embedded tables.
var Default = sync.OnceValue(func() *Matrix {
	m := &Matrix{errors: map[int]row{}}
	v, err := data.ReadFile("data/VERSION")
	if err != nil {
		panic(err) // embedded
	}
	m.version = strings.TrimSpace(string(v))
	for _, r := range mustTable("driver_branches") {
		n, _ := strconv.Atoi(strings.TrimPrefix(r["branch"], "R")) // a test holds that it is a number
		c, _ := ParseCUDA(r["max_cuda"])
		m.branches = append(m.branches, branch{n, c, r})
	}
	sort.Slice(m.branches, func(i, j int) bool { return m.branches[i].number < m.branches[j].number })
	for _, r := range mustTable("family_minimum") {
		floor, _, _ := strings.Cut(r["min_driver"], " ")
		d, _ := ParseDriver(floor)
		m.families = append(m.families, family{r["family"], r["platform"], d, r})
	}
	for _, r := range mustTable("toolkit_driver") {
		c, _ := ParseCUDA(r["cuda_minor"])
		m.toolkits = append(m.toolkits, toolkit{
			r["toolkit_version"], c, r["cudart_version"], r["driver_linux_x86_64"], strings.TrimPrefix(r["toolkit_branch"], "R"), r,
		})
	}
	for _, r := range mustTable("error_codes") {
		n, _ := strconv.Atoi(r["code"])
		m.errors[n] = r
	}
	return m
})

// Version is the date of the tables.
func (m *Matrix) Version() string { return m.version }

// driverCUDA is the CUDA version of a driver as far as it is known.
type driverCUDA struct {
	cuda CUDA
	// atLeast says that it is a lower bound only: the branch is not listed.
	atLeast bool
	// most is the highest that it can be: that of the next listed branch; 0.0
	// if there is none.
	most   CUDA
	reason Reason
}

// ofBranch looks up the CUDA version of a branch. A branch that is not listed
// has at least that of the nearest older one: CUDA versions rise with
// branches. It is false for a matrix without branches.
func (m *Matrix) ofBranch(n int, windows bool) (driverCUDA, bool) {
	i := sort.Search(len(m.branches), func(i int) bool { return m.branches[i].number > n }) - 1
	if len(m.branches) == 0 {
		return driverCUDA{}, false
	}
	if i < 0 {
		return driverCUDA{atLeast: true, most: m.branches[0].cuda, reason: Reason{
			Text: "branch R" + strconv.Itoa(n) + " is older than the tables", Confidence: "medium",
		}}, true
	}
	b := m.branches[i]
	name := "R" + strconv.Itoa(b.number)
	d := driverCUDA{cuda: b.cuda, most: b.cuda}
	switch {
	case b.number == n:
		d.reason = b.row.reason("driver_branches", name, "drivers of "+name+" have CUDA "+b.cuda.String())
	case windows && i+1 < len(m.branches):
		// Windows numbers run on within a branch: 551.78 and 552.22 are R550.
		d.reason = b.row.reason("driver_branches", name, "Windows driver "+strconv.Itoa(n)+" is of "+name+", which has CUDA "+b.cuda.String())
		d.reason.Confidence = lower(d.reason.Confidence, "medium")
	default:
		d.atLeast, d.most = true, CUDA{}
		if i+1 < len(m.branches) {
			d.most = m.branches[i+1].cuda
		}
		d.reason = b.row.reason("driver_branches", name, "branch R"+strconv.Itoa(n)+" is in no table: it has at least CUDA "+b.cuda.String()+", as "+name+" has")
		d.reason.Confidence = "low"
	}
	return d, true
}

// DriverCUDA is the CUDA version of a Linux driver by its branch, and whether
// that is exact or (for a branch that is not listed) a lower bound. ok is
// false for branches older than the table.
func (m *Matrix) DriverCUDA(d Driver) (cuda string, exact bool, reason Reason, ok bool) {
	c, ok := m.ofBranch(d.Branch(), false)
	return c.cuda.String(), !c.atLeast, c.reason, ok && c.cuda.Major > 0
}

// floor finds the lowest driver of a CUDA family: for minor-version
// compatibility from 11 on, the packaged driver before. It is false for
// families that no table has.
func (m *Matrix) floor(c CUDA, windows, arm bool) (family, bool) {
	want := func(name string, platforms ...string) (family, bool) {
		for _, p := range platforms {
			for _, f := range m.families {
				if f.name == name && strings.HasPrefix(f.platform, p) && f.floor.v != nil {
					return f, true
				}
			}
		}
		return family{}, false
	}
	platforms := []string{"Linux x86_64"}
	switch {
	case windows:
		platforms = []string{"Windows"}
	case arm:
		platforms = []string{"Linux aarch64", "Linux x86_64"}
	}
	if c.HasMinor {
		if f, ok := want(c.String(), platforms...); ok {
			return f, true
		}
	}
	if c.Major >= 11 {
		return want(strconv.Itoa(c.Major)+".x", platforms...)
	}
	return family{}, false
}

// packaged is the first release of a CUDA minor that names a driver, or else a
// branch.
func (m *Matrix) packaged(c CUDA) (toolkit, bool) {
	var best toolkit
	found := false
	for _, t := range m.toolkits {
		if t.cuda != c {
			continue
		}
		if !found || best.driver == "" && t.driver != "" || t.driver != "" && NewerDriver(best.driver, t.driver) {
			best, found = t, true
		}
	}
	return best, found
}

// newestMinor is the highest known minor of a CUDA major.
func (m *Matrix) newestMinor(major int) (CUDA, bool) {
	best, found := CUDA{}, false
	for _, t := range m.toolkits {
		if t.cuda.Major == major && (!found || t.cuda.Minor > best.Minor) {
			best, found = t.cuda, true
		}
	}
	return best, found
}

// Need names the lowest Linux drivers on which a runtime is native, and runs
// at all by minor-version compatibility; either is empty if not known. A bare
// number is a branch.
func (m *Matrix) Need(cuda string) (native, minor string) {
	c, err := ParseCUDA(cuda)
	if err != nil {
		return "", ""
	}
	if c.HasMinor {
		if t, ok := m.packaged(c); ok {
			if native = t.driver; native == "" {
				native = t.branch
			}
		}
	}
	if f, ok := m.floor(c, false, false); ok {
		minor = f.floor.String()
	}
	return native, minor
}

// Cudart is the toolkit release of a runtime library: 12.4.1 of 12.4.127. Some
// libraries came with several releases: then exact is false and the first is
// named.
func (m *Matrix) Cudart(library string) (release string, exact, ok bool) {
	exact = true
	for _, t := range m.toolkits {
		if t.cudart != library || library == "" {
			continue
		}
		if ok {
			return release, false, true
		}
		release, ok = t.version, true
	}
	return release, exact, ok
}

// ErrorText is the name and the text of a CUDA error, empty for code 0 and
// for codes that no table has.
func (m *Matrix) ErrorText(code int) string {
	r, ok := m.errors[code]
	if !ok {
		return ""
	}
	return r["runtime_name"] + ": " + r["meaning"]
}

// lower is the lower of two confidences.
func lower(a, b string) string {
	rank := map[string]int{"low": 0, "medium": 1, "high": 2}
	if rank[b] < rank[a] {
		return b
	}
	return a
}
