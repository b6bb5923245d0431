package compat

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gpulint/gpulint/facts"
)

const (
	native  = facts.LevelNative
	minor   = facts.LevelMinor
	unknown = facts.LevelUnknown
	fails   = facts.LevelIncompatible
)

func TestJudgeRuntime(t *testing.T) {
	t.Parallel()
	on := func(driver string) facts.Target { return facts.Target{Driver: driver} }
	wsl := func(driver string) facts.Target {
		return facts.Target{Driver: driver, Runtime: facts.ModeWSL}
	}
	for _, c := range []struct {
		cuda   string
		target facts.Target
		want   string
	}{
		{"11.2", on("418.87.01"), fails},
		{"11.2", on("450.80.02"), minor},
		{"11.2", on("470.256.02"), native},
		{"11.2", on("525.60.13"), native},
		{"11.2", on("535.261.03"), native},
		{"11.2", on("550.163.01"), native},
		{"11.2", on("580.65.06"), native},
		{"11.8", on("418.87.01"), fails},
		{"11.8", on("450.80.02"), minor},
		{"11.8", on("470.256.02"), minor},
		{"11.8", on("525.60.13"), native},
		{"11.8", on("580.65.06"), native},
		{"12.4", on("418.87.01"), fails},
		{"12.4", on("450.80.02"), fails},
		{"12.4", on("470.256.02"), fails},
		{"12.4", on("525.60.13"), minor},
		{"12.4", on("535.261.03"), minor},
		{"12.4", on("550.163.01"), native},
		{"12.4", on("580.65.06"), native},
		{"12.4.127", on("550.163.01"), native},
		// Just below and at the floors.
		{"12.4", on("525.60.12"), fails},
		{"11.2", on("450.80.01"), fails},
		{"11.0", on("450.36.06"), native},
		{"12.0", on("525.60.11"), native}, // by its branch; documented 525.60.13
		{"13.1", on("580.65.06"), minor},
		{"13.0", on("580.00"), native}, // Tegra: by branch
		{"13.2", on("580.00"), minor},
		{"13.0", on("575.57.08"), fails},
		{"13.5", on("620.10.01"), native},
		// Before 11 there is no minor-version compatibility.
		{"10.2", on("440.33.01"), native},
		{"10.2", on("418.87.01"), fails},
		{"10.1", on("580.65.06"), native},
		{"9.0", on("384.81"), native},
		// A runtime whose minor is not known.
		{"12", on("580.65.06"), native},
		{"12", on("535.161.08"), unknown},
		{"12", on("575.57.08"), native}, // 12.9 is the newest
		{"12", on("470.256.02"), fails},
		{"11", on("450.80.02"), unknown},
		{"11", on("525.60.13"), native},
		// A driver of which the branch alone is known.
		{"12.4", on("525"), unknown},
		{"12.4", on("R535"), minor},
		{"12.4", on("550"), native},
		{"12.4", on("470"), fails},
		// Outside of the tables.
		{"14.0", on("580.65.06"), fails}, // a major above the driver's
		{"14.0", on("700.10.01"), unknown},
		{"13.5", on("700.10.01"), native},
		{"12.6", on("540.4.0"), minor}, // Tegra's branch is not listed
		{"12.4", on("340.108"), fails},
		{"", on("580.65.06"), unknown},
		{"12.4", on(""), unknown},
		{"12.4", facts.Target{}, unknown},
		// The driver's own word.
		{"12.6", facts.Target{Driver: "540.4.0", CUDA: "12.6"}, native},
		{"12.4", facts.Target{CUDA: "12.2"}, minor},
		{"12.4", facts.Target{CUDA: "11.8"}, fails},
		{"13.1", facts.Target{Driver: "570.0.0", CUDA: "13.0"}, minor},
		// ARM has a lower floor for 11.0; what cannot be known is not guessed.
		{"11.0", facts.Target{Driver: "450.28.01", Platform: "linux/arm64"}, native},
		// Windows numbers are others.
		{"12.4", wsl("551.78"), native},
		{"12.4", wsl("566.07"), native},
		{"12.8", wsl("566.07"), minor},
		{"12.4", wsl("528.33"), minor},
		{"12.4", wsl("528.00"), fails},
		{"13.0", wsl("581.15"), native},
		{"13.2", wsl("581.15"), unknown},
		{"13.0", wsl("572.16"), fails},
	} {
		t.Run(fmt.Sprintf("%s on %v", c.cuda, c.target), func(t *testing.T) {
			t.Parallel()
			v := Default().JudgeRuntime(c.cuda, c.target, JudgeOptions{})
			if v.Level != c.want {
				t.Errorf("%s, want %s: %+v", v.Level, c.want, v.Reasons)
			}
			if (v.Level == fails) != (v.Code == 35) || (v.Code != 0) != strings.HasPrefix(v.Text, "cudaErrorInsufficientDriver: ") {
				t.Errorf("code %d, text %q", v.Code, v.Text)
			}
			if len(v.Reasons) == 0 {
				t.Error("no reasons")
			}
		})
	}
}

func TestCompatIsNeverAFalseError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cuda, driver, compat, want string }{
		{"13.0", "535.161.08", "", fails},
		{"13.0", "535.161.08", "580.65.06", unknown},
		{"13.0", "535.161.08", "550.54.15", fails}, // too old for the runtime as well
		{"12.4", "535.161.08", "550.54.15", minor},
		{"12.4", "550.54.15", "550.54.15", native},
	} {
		v := Default().JudgeRuntime(c.cuda, facts.Target{Driver: c.driver}, JudgeOptions{Compat: c.compat})
		if v.Level != c.want || (v.Level != fails) != (v.Code == 0) {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// TestLowConfidenceNeverFails takes the confidence of a floor away.
func TestLowConfidenceNeverFails(t *testing.T) {
	t.Parallel()
	m := *Default()
	m.families = append([]family(nil), m.families...)
	for i, f := range m.families {
		r := row{}
		for k, v := range f.row {
			r[k] = v
		}
		r["confidence"] = "low"
		m.families[i].row = r
	}
	if v := m.JudgeRuntime("12.4", facts.Target{Driver: "470.256.02"}, JudgeOptions{}); v.Level != unknown || v.Code != 0 {
		t.Errorf("%+v", v)
	}
}

// TestNewerDriversNeverHarm is backward compatibility: of two drivers the newer
// never fares worse.
func TestNewerDriversNeverHarm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	rank := map[string]int{native: 0, minor: 1, unknown: 2, fails: 3}
	driver := func() string {
		return fmt.Sprintf("%d.%d.%02d", 340+r.IntN(300), r.IntN(300), r.IntN(20))
	}
	for range 20_000 {
		cuda := fmt.Sprintf("%d.%d", 7+r.IntN(7), r.IntN(10))
		if r.IntN(5) == 0 {
			cuda = strconv.Itoa(9 + r.IntN(6))
		}
		a, b := driver(), driver()
		if NewerDriver(a, b) {
			a, b = b, a
		}
		va := Default().JudgeRuntime(cuda, facts.Target{Driver: a}, JudgeOptions{})
		vb := Default().JudgeRuntime(cuda, facts.Target{Driver: b}, JudgeOptions{})
		if rank[vb.Level] > rank[va.Level] {
			t.Fatalf("CUDA %s: %s on %s, %s on the newer %s", cuda, va.Level, a, vb.Level, b)
		}
	}
}

func TestParseDriver(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"535.161.08": "535.161.08", "304.137": "304.137", "535": "535", "R535": "535", "v535.161.08": "535.161.08", " 580.65.06\n": "580.65.06",
	} {
		if d, err := ParseDriver(s); err != nil || d.String() != want {
			t.Errorf("%q: %v, %v", s, d.text, err)
		}
	}
	for _, s := range []string{"", "535.", "022", "022.10", "535.x", "vv535.1", "Rv535", "12.4", "5355.1", "535.161.08.1", "R535.161", "535.161.08-1", strings.Repeat("5", 1000)} {
		if d, err := ParseDriver(s); err == nil {
			t.Errorf("%q was taken for %v", s, d)
		} else if !strings.Contains(err.Error(), "535.161.08") || len(err.Error()) > 200 {
			t.Errorf("%q: unclear: %v", s, err)
		}
	}
	if NewerDriver("535.54.03", "535.161.08") || !NewerDriver("535.161.08", "535.54.03") || !NewerDriver("580", "") {
		t.Error("NewerDriver")
	}
}

func TestParseCUDA(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"12": "12", "12.4": "12.4", "12.4.1": "12.4", "11.8.89": "11.8", "12.1.20230222": "12.1", "10.2.89.1": "10.2",
	} {
		if c, err := ParseCUDA(s); err != nil || c.String() != want {
			t.Errorf("%q: %v, %v", s, c, err)
		}
	}
	for _, s := range []string{"", "v12", "cu124", "12.", "12.x", "123", "12.99999999", "12.4.1.1.1"} {
		if c, err := ParseCUDA(s); err == nil {
			t.Errorf("%q was taken for %v", s, c)
		}
	}
}

func TestNeed(t *testing.T) {
	t.Parallel()
	for cuda, want := range map[string][2]string{
		"11.2": {"460.27.03", "450.80.02"}, "12.4": {"550.54.14", "525.60.13"}, "13.0": {"580.65.06", "580"},
		"10.2": {"440.33", "440.33"}, "12": {"", "525.60.13"}, "13.5": {"620", "580"}, "14.1": {"", ""}, "x": {"", ""},
		"11.0": {"450.36.06", "450.36.06"},
	} {
		if n, m := Default().Need(cuda); [2]string{n, m} != want {
			t.Errorf("%s: %s %s, want %v", cuda, n, m, want)
		}
	}
}

func TestCudart(t *testing.T) {
	t.Parallel()
	for lib, want := range map[string]string{
		"12.4.127": "12.4.1 true true", "12.6.77": "12.6.2 false true", "9.9.9": " true false", "": " true false",
	} {
		r, exact, ok := Default().Cudart(lib)
		if got := fmt.Sprint(r, " ", exact, " ", ok); got != want {
			t.Errorf("%s: %s", lib, got)
		}
	}
}

func TestDriverCUDA(t *testing.T) {
	t.Parallel()
	for driver, want := range map[string]string{
		"535.161.08": "12.2 true true", "540.4.0": "12.2 false true", "700.1.1": "13.5 false true", "340.108": "0 false false",
	} {
		d, err := ParseDriver(driver)
		if err != nil {
			t.Fatal(err)
		}
		c, exact, _, ok := Default().DriverCUDA(d)
		if got := fmt.Sprint(c, " ", exact, " ", ok); got != want {
			t.Errorf("%s: %s", driver, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	if s := Default().ErrorText(35); !strings.HasPrefix(s, "cudaErrorInsufficientDriver: ") {
		t.Error(s)
	}
	if s := Default().ErrorText(12345); s != "" {
		t.Error(s)
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	order := []string{native, minor, facts.LevelForward, unknown, fails}
	for i, a := range order {
		for j, b := range order {
			if w := Worst(a, b); w != order[max(i, j)] {
				t.Errorf("Worst(%s, %s) = %s", a, b, w)
			}
		}
	}
}

// TestTables holds the tables' own rules.
func TestTables(t *testing.T) {
	t.Parallel()
	keys := map[string][]string{
		"driver_branches": {"branch"}, "family_minimum": {"family", "platform"},
		"toolkit_driver": {"toolkit_version", "release"}, "error_codes": {"code"},
	}
	for name, key := range keys {
		seen := map[string]bool{}
		for i, r := range mustTable(name) {
			k := ""
			for _, c := range key {
				k += r[c] + "|"
			}
			if seen[k] {
				t.Errorf("%s: %s stands twice", name, k)
			}
			seen[k] = true
			if r["source"] == "" {
				t.Errorf("%s row %d has no source", name, i+1)
			}
			if c := r["confidence"]; c != "high" && c != "medium" && c != "low" {
				t.Errorf("%s row %d: confidence %q", name, i+1, c)
			}
		}
	}
	m := Default()
	if m.Version() == "" {
		t.Error("the tables have no date")
	}
	branches := map[string]bool{}
	for i, b := range m.branches {
		branches[b.row["branch"]] = true
		if b.number < 300 || !b.cuda.HasMinor {
			t.Errorf("branch %v", b.row)
		}
		if i > 0 && (b.number <= m.branches[i-1].number || b.cuda.compare(m.branches[i-1].cuda) < 0) {
			t.Errorf("CUDA versions do not rise with branches at R%d", b.number)
		}
	}
	// Toolkits older than the branch table, or that point into a branch's
	// first releases, name branches that it does not list.
	unlisted := map[string]bool{"R346": true, "R352": true, "R367": true, "R375": true}
	for _, k := range m.toolkits {
		if b := k.row["toolkit_branch"]; !branches[b] && !unlisted[b] {
			t.Errorf("toolkit %s names branch %s, which is in no table", k.version, b)
		}
		if !k.cuda.HasMinor {
			t.Errorf("toolkit %s has no CUDA version", k.version)
		}
		for _, c := range []string{"driver_linux_x86_64", "runfile_driver_linux", "min_driver_minor_compat_linux"} {
			if v := k.row[c]; v != "" {
				if _, err := ParseDriver(v); err != nil {
					t.Errorf("toolkit %s: %s: %v", k.version, c, err)
				}
			}
		}
		if f, ok := m.floor(k.cuda, false, false); ok && k.driver != "" && NewerDriver(f.floor.String(), k.driver) {
			t.Errorf("toolkit %s comes with %s, below the floor %s", k.version, k.driver, f.floor)
		}
	}
	for _, f := range m.families {
		if f.floor.v == nil {
			t.Errorf("family %s %s has no floor: %q", f.name, f.platform, f.row["min_driver"])
		}
	}
}

func TestParseTable(t *testing.T) {
	t.Parallel()
	if _, err := parseTable("a\tb\n1\t2\n1\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a short line: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("535.161.08")
	f.Add("12.4")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDriver(s); err == nil && d.Branch() < 100 {
			t.Errorf("%q: branch %d", s, d.Branch())
		}
		if c, err := ParseCUDA(s); err == nil && c.Major < 0 {
			t.Errorf("%q: %v", s, c)
		}
		Default().JudgeRuntime(s, facts.Target{Driver: s, CUDA: s}, JudgeOptions{Compat: s})
	})
}
