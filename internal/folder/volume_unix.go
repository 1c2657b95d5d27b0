//go:build unix

package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// IsOfVolumeGroup reports whether the group of a file is that of a volume for this process, and other users have no
// access to the file. Kubernetes gives the files of a volume with fsGroup that group and the mode 0660, at each start, whatever
// mode they had: the folders have the group too, with the set-group-ID bit, and the process is in the group.
func IsOfVolumeGroup(path string, info fs.FileInfo) bool {
	above, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm()&0o007 != 0 || above.Mode()&fs.ModeSetgid == 0 || above.Mode().Perm()&0o007 != 0 {
		return false
	}
	group, ok := groupOf(info)
	of, known := groupOf(above)
	mine, err := os.Getgroups()
	return ok && known && err == nil && group == of && slices.Contains(append(mine, os.Getegid()), group)
}

func groupOf(info fs.FileInfo) (id int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Gid), true
}
