package layers

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gpulint/gpulint/facts"
	"github.com/gpulint/gpulint/scan/catalog"
	"github.com/gpulint/gpulint/scan/packages"
)

// Statement is what a file of a framework says of its version.
type Statement struct {
	Path      string
	Framework string
	Version   string
	// CUDA is the version of CUDA that it was built for, CUDNN that of cuDNN.
	CUDA, CUDNN string
}

// maxStatement is how many bytes of a file that states a version are read.
const maxStatement = 64 << 10

// statementFiles are the files of frameworks that state the version of CUDA, by
// the end of their paths.
var statementFiles = []struct{ suffix, framework string }{
	{"/torch/version.py", "torch"},
	{"/torchvision/version.py", "torchvision"},
	{"/torchaudio/version.py", "torchaudio"},
	{"/tensorflow/python/platform/build_info.py", "tensorflow"},
	{"/onnxruntime/capi/build_and_package_info.py", "onnxruntime"},
}

// assigned finds what a Python file assigns to a name, or has under it in a
// dictionary: cuda: Optional[str] = '12.1', "cuda_version": "12.5.1",
// ('cuda_version', '12.5.1').
func assigned(text []byte, pattern *regexp.Regexp) string {
	m := pattern.FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}

var (
	statedVersion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^__version__ *(?::[^=\n]*)?= *['"]([0-9][^'"\n]{0,63})['"]`)
	})
	statedCUDA = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|['"(, ])cuda(?:_version)?['"]? *(?::[^=\n'"]*=|[=:,]) *['"](\d+(?:\.\d+){0,2})['"]`)
	})
	statedCUDNN = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|['"(, ])cudnn_version['"]? *[=:,] *['"](\d+(?:\.\d+){0,3})['"]`)
	})
)

// statement reads a file that states a framework's version, and says whether
// the path is that of one.
func (w *walker) statement(abs string, r io.Reader) (bool, error) {
	i := slices.IndexFunc(statementFiles, func(f struct{ suffix, framework string }) bool { return strings.HasSuffix(abs, f.suffix) })
	if i < 0 {
		return false, nil
	}
	b, _, err := limited(r, maxStatement)
	if err != nil {
		return true, err
	}
	b = bytes.ToValidUTF8(b, nil)
	s := Statement{
		Path: abs, Framework: statementFiles[i].framework,
		Version: assigned(b, statedVersion()), CUDA: assigned(b, statedCUDA()), CUDNN: assigned(b, statedCUDNN()),
	}
	if s.Version == "" && s.CUDA == "" {
		return true, nil
	}
	if len(w.f.Statements) >= w.o.Limits.Facts {
		w.f.incomplete("frameworks", abs, "further versions that frameworks state")
		return true, nil
	}
	w.f.Statements = append(w.f.Statements, s)
	w.from(abs, &w.statements)
	return true, nil
}

// frameworks lists the frameworks by their packages and by what their files
// state.
func (m *merger) frameworks() {
	m.img.Frameworks = []facts.Framework{}
	for _, p := range m.img.Packages {
		f, ok := catalog.FrameworkOf(p.Manager, p.Name, p.Version)
		if !ok || p.State != packages.Installed {
			continue
		}
		from := ""
		if f.CUDA != "" {
			from = facts.FromPackage
		}
		m.img.Frameworks = append(m.img.Frameworks, facts.Framework{
			Name: f.Name, Package: p.Name, Manager: p.Manager, Version: p.Version, CUDA: f.CUDA, CUDAFrom: from,
			Layer: p.Layer, Path: p.Record, Confidence: f.Confidence, Source: f.Source,
		})
	}
	for i, l := range m.fs {
		for _, s := range l.Statements {
			if m.tree.Shadow(i, strings.TrimPrefix(s.Path, "/")) == nil {
				m.stated(i, s)
			}
		}
	}
	slices.SortStableFunc(m.img.Frameworks, func(a, b facts.Framework) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path))
	})
}

// stated adds what a file states to the framework of the same directory, or
// else is one by itself.
func (m *merger) stated(layer int, s Statement) {
	root := s.Path
	for _, f := range statementFiles {
		root = strings.TrimSuffix(root, f.suffix)
	}
	for i := range m.img.Frameworks {
		f := &m.img.Frameworks[i]
		if f.Name != s.Framework || !strings.HasPrefix(f.Path, root+"/") {
			continue
		}
		f.Version = cmp.Or(s.Version, f.Version)
		f.CUDNN = s.CUDNN
		if s.CUDA != "" {
			f.CUDA, f.CUDAFrom = s.CUDA, facts.FromFile
		}
		return
	}
	f := facts.Framework{
		Name: s.Framework, Version: s.Version, CUDA: s.CUDA, CUDNN: s.CUDNN, Layer: layer, Path: s.Path,
		Confidence: "high", Source: "the file itself",
	}
	if s.CUDA != "" {
		f.CUDAFrom = facts.FromFile
	}
	m.img.Frameworks = append(m.img.Frameworks, f)
}
