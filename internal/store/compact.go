package store

import (
	"context"
	"fmt"
)

// SQLite keeps the pages of deleted rows in the file, for rows to come. After a flood
// the file would stay as large as it once was, so a sweep gives free pages back to the
// file system, a few at a time.

const (
	// freePagesKept is the part of a file that may be free: rows to come need it again.
	freePagesKept = 4 // a quarter
	// compactBatch is how many pages one transaction gives back.
	compactBatch = 500
	// maxRebuild is the size in bytes up to which a database of an earlier version is
	// rebuilt when it is opened, so that its pages can be given back. It takes less than a
	// second. A larger one is left as it is.
	maxRebuild = 64 << 20

	incremental = 2 // PRAGMA auto_vacuum = INCREMENTAL
)

// pages are the sizes of a SQLite file.
type pages struct {
	Mode  int `db:"auto_vacuum"`
	Count int `db:"page_count"`
	Free  int `db:"freelist_count"`
	Size  int `db:"page_size"` // bytes
}

func (p *pool) pages(ctx context.Context) (sizes pages, err error) {
	err = p.GetContext(ctx, &sizes, `SELECT auto_vacuum, page_count, freelist_count, page_size FROM
		pragma_auto_vacuum, pragma_page_count, pragma_freelist_count, pragma_page_size`)
	return sizes, err
}

// makeCompactable has a SQLite file of an earlier version give pages back.
func (p *pool) makeCompactable(ctx context.Context) error {
	sizes, err := p.pages(ctx)
	if err != nil || sizes.Mode == incremental || sizes.Count*sizes.Size > maxRebuild {
		return err
	}
	_, err = p.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
	return err
}

// compact gives free pages of a SQLite file back to the file system.
func (s *Store) compact(ctx context.Context) error {
	if !s.local {
		return nil
	}
	for {
		sizes, err := s.db.pages(ctx)
		surplus := sizes.Free - sizes.Count/freePagesKept
		if err != nil || surplus <= 0 || sizes.Mode != incremental {
			return err
		}
		err = s.writer.write(ctx, func(t *tx) error {
			_, err := t.sql.ExecContext(t.ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", min(surplus, compactBatch)))
			return err
		})
		if err != nil {
			return err
		}
	}
}
