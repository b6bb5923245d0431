package derive

import (
	"path"
	"strings"

	"github.com/gpulint/gpulint/compat"
	"github.com/gpulint/gpulint/facts"
)

// drift finds statements of the CUDA version that contradict each other.
// Several toolkits side by side are by design, and so are the runtimes that
// Python packages bring: CUDA_VERSION contradicts only if no toolkit and no
// system runtime has its version, and a toolkit only contradicts itself.
func (d *deriver) drift() []facts.DriftCandidate {
	var out []facts.DriftCandidate
	add := func(key string, s []facts.VersionStatement, ev []facts.Evidence) {
		if len(out) == maxEvidence {
			d.dropped++
			return
		}
		c := facts.DriftCandidate{Statements: s}
		c.ID, c.Key, c.Evidence = "version_drift/"+key, key, ev
		out = append(out, c)
	}
	system := d.systemStatements()
	for _, claim := range d.claims() {
		if len(system) == 0 {
			break
		}
		agrees := false
		s, ev := []facts.VersionStatement{claim.VersionStatement}, []facts.Evidence{claim.evidence}
		for _, o := range system {
			agrees = agrees || same(claim.CUDA, o.CUDA)
			s, ev = append(s, o.VersionStatement), append(ev, o.evidence)
		}
		if !agrees {
			add(claim.Where, s, ev)
		}
	}
	for _, a := range system {
		for _, b := range system {
			if a.toolkit != "" && a.toolkit == b.toolkit && a.Where < b.Where && !same(a.CUDA, b.CUDA) {
				add("path:"+a.toolkit+":"+path.Base(a.Where)+":"+path.Base(b.Where),
					[]facts.VersionStatement{a.VersionStatement, b.VersionStatement},
					[]facts.Evidence{a.evidence, b.evidence})
			}
		}
	}
	return out
}

// statement is a version statement with its evidence.
type statement struct {
	facts.VersionStatement
	evidence facts.Evidence
	// toolkit is the toolkit's directory, empty outside of one.
	toolkit string
}

// claims are what the configuration says.
func (d *deriver) claims() []statement {
	var out []statement
	add := func(where, v string) {
		if c, err := compat.ParseCUDA(v); err == nil {
			s := statement{evidence: facts.Evidence{Detail: where + "=" + cut(v, 100)}}
			s.Where, s.CUDA = where, *version(c.String())
			out = append(out, s)
		}
	}
	if v, ok := d.img.Config.Getenv("CUDA_VERSION"); ok {
		add("CUDA_VERSION", v)
	}
	if v := d.img.Config.Labels["com.nvidia.cuda.version"]; v != "" {
		add("com.nvidia.cuda.version", v)
	}
	return out
}

// systemStatements are what the toolkits' files and the system's runtimes say.
func (d *deriver) systemStatements() []statement {
	var out []statement
	add := func(f facts.File, v, detail string) {
		c, err := compat.ParseCUDA(v)
		if err != nil || f.Shadowed != nil {
			return
		}
		if len(out) == maxEvidence {
			d.dropped++
			return
		}
		s := statement{toolkit: toolkitDir(f.Path), evidence: facts.Evidence{
			Path: f.Path, Layer: d.layerRef(f.Layer), Package: d.packageText(f), Detail: detail,
		}}
		s.Where, s.CUDA = f.Path, *version(c.String())
		out = append(out, s)
	}
	for _, t := range d.img.Toolkits {
		add(t.File, t.CUDA, "states CUDA "+t.CUDA)
	}
	for _, r := range d.img.Runtimes {
		if toolkitDir(r.Path) != "" || distribution(r.Manager) {
			add(r.File, r.CUDA, "is of CUDA "+r.CUDA)
		}
	}
	return out
}

// distribution says whether a package manager is the system's own: pip and
// conda bring runtimes for their own programs.
func distribution(manager string) bool {
	return manager == "dpkg" || manager == "apk" || manager == "rpm"
}

// toolkitDir is the directory of the toolkit that a path belongs to:
// /usr/local/cuda-12.4 of /usr/local/cuda-12.4/targets/….
func toolkitDir(p string) string {
	rest, ok := strings.CutPrefix(p, "/usr/local/")
	if !ok || !strings.HasPrefix(rest, "cuda") {
		return ""
	}
	name, _, ok := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	return "/usr/local/" + name
}

// same compares major and minor, as far as both are known.
func same(a, b facts.Version) bool {
	for i := range min(len(a.Parts), len(b.Parts), 2) {
		if a.Parts[i] != b.Parts[i] {
			return false
		}
	}
	return true
}
