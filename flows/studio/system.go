package studio

import (
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// SetSystem sets the system that flows are checked for from now on: the reply of GET /flows/system.
func (s *Studio) SetSystem(system schemas.CheckedSystem) (struct{}, error) {
	if err := connectParts(system); err != nil {
		return struct{}{}, err
	}
	subflows := schemas.SubflowsOf{}
	for i := range system.Subflows {
		subflows[system.Subflows[i].Handle] = &system.Subflows[i]
	}
	s.subflows = subflows
	s.targets = append([]string{}, system.Targets...)
	s.kinds = engine.Remember(nodes.Kinds(nodes.Deps{NoMail: !system.SendsMail, Targets: names(s.targets)}))
	s.last = checked{}
	return struct{}{}, nil
}

// connectParts sets the Parts of each sub-flow: the versions that it uses.
func connectParts(system schemas.CheckedSystem) error {
	type version struct {
		id     string
		number int
	}
	versions := map[version]*schemas.Flow{}
	for _, list := range [][]schemas.Flow{system.Subflows, system.Parts} {
		for i := range list {
			f := &list[i]
			f.Parts = map[string]*schemas.Flow{}
			versions[version{f.ID, f.ActiveVersion}] = f
		}
	}
	for _, f := range versions {
		for _, use := range f.Uses {
			if f.Parts[use.Handle] = versions[version{use.ID, use.Version}]; f.Parts[use.Handle] == nil {
				return fmt.Errorf("the sub-flow %q uses version %d of %q, which is missing", f.Handle, use.Version, use.Handle)
			}
		}
	}
	return nil
}
