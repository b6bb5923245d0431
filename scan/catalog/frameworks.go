package catalog

import (
	"regexp"
	"strings"
	"sync"
)

// Framework is a framework that uses CUDA, as the name of its package says.
type Framework struct {
	Name string
	// CUDA is the major version of CUDA that the package's name states, empty if
	// it states none.
	CUDA               string
	Confidence, Source string
}

type frameworkRow struct {
	manager string
	pattern *regexp.Regexp
	cuda    bool
	Framework
}

var frameworkTable = sync.OnceValue(func() []frameworkRow {
	rows := table("frameworks.tsv")
	list := make([]frameworkRow, 0, len(rows))
	for _, r := range rows {
		list = append(list, frameworkRow{
			manager: r["manager"], cuda: r["cuda"] != "",
			pattern:   regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(r["package"]), "<N>", `(\d{2,3})`) + "$"),
			Framework: Framework{Name: r["framework"], Confidence: r["confidence"], Source: r["source"]},
		})
	}
	return list
})

// localCUDA is the version of CUDA in a local version: 2.4.0+cu121,
// 0.4.1+cuda12.cudnn89.
var localCUDA = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\+cu(?:da)?(\d\d)\.?(\d?)(?:\D|$)`)
})

// FrameworkOf tells whether a package is of a framework that uses CUDA.
func FrameworkOf(manager, name, version string) (Framework, bool) {
	for _, r := range frameworkTable() {
		if r.manager != manager {
			continue
		}
		m := r.pattern.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		f := r.Framework
		if len(m) > 1 {
			f.CUDA = cudaNumber(m[1], r.cuda)
		}
		if f.CUDA == "" {
			f.CUDA = LocalCUDA(version)
		}
		return f, true
	}
	return Framework{}, false
}

// LocalCUDA is the version of CUDA that the local part of a version names.
func LocalCUDA(version string) string {
	m := localCUDA().FindStringSubmatch(version)
	switch {
	case m == nil:
		return ""
	case m[2] == "":
		return m[1]
	}
	return m[1] + "." + m[2]
}

// cudaNumber reads 12, or 112 as 11.2.
func cudaNumber(n string, major bool) string {
	if major || len(n) == 2 {
		return n
	}
	return n[:2] + "." + n[2:]
}
