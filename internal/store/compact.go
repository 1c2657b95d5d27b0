package store

import (
	"context"
	"fmt"
)

// SQLite reuses the pages of deleted rows but does not shrink the file. A sweep returns free
// pages to the file system in small steps, so that the file shrinks after a flood of rows.

const (
	// freePagesKept is the share of the file that may be free for new rows.
	freePagesKept = 4 // a quarter
	// compactBatch is how many pages one transaction returns.
	compactBatch = 500
	// maxRebuild is the largest database of an earlier version, in bytes, that is rebuilt at
	// opening so that its pages can be returned. The rebuild takes less than a second. A
	// larger database is not rebuilt.
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

// makeCompactable prepares a SQLite file of an earlier version for compaction.
func (p *pool) makeCompactable(ctx context.Context) error {
	sizes, err := p.pages(ctx)
	if err != nil || sizes.Mode == incremental || sizes.Count*sizes.Size > maxRebuild {
		return err
	}
	_, err = p.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
	return err
}

// compact returns free pages of a SQLite file to the file system.
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
		err = s.writer.write(ctx, func(t *Tx) error {
			_, err := t.sql.ExecContext(t.ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", min(surplus, compactBatch)))
			return err
		})
		if err != nil {
			return err
		}
	}
}
