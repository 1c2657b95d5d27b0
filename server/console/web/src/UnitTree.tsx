// The organization units as a tree. The units below a unit are read when it is expanded.
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { Button, Link, Tree, TreeItem, TreeItemContent } from "react-aria-components";
import { useNavigate } from "react-router";
import { send } from "./api";
import { condition } from "./listing";
import { type Item, mayChange } from "./nouns";
import { t } from "./texts";

const path = "/organization-units";

/** pageSize is how many units of one parent are read at a time. */
const pageSize = 50;

interface Page {
  organizationUnits: Item[];
  totalResults: number;
  links: { href: string; rel: string }[];
}

/** Level is what is known of the units below a parent. */
interface Level {
  units: Item[];
  rest: number; // units that are not read yet
  error?: unknown;
  isRead: boolean;
  more: () => void;
}

/** readPage reads units below a parent, "" for the roots, after the last one of the page before. */
async function readPage(parent: string, after: string): Promise<Page> {
  const query = after ? new URLSearchParams(after) : new URLSearchParams({ filter: condition("parentId", "eq", parent) });
  query.set("limit", String(pageSize));
  return (await send("GET", `${path}?${query}`)).data as Page;
}

function nextOf(page: Page): string | undefined {
  const next = page.links.find((link) => link.rel === "next");
  return next?.href.slice(next.href.indexOf("?"));
}

/** below reads the units below a parent, "" for the roots. */
export const below = (parent: string) => infiniteQueryOptions({
  queryKey: [path, "below", parent],
  initialPageParam: "",
  queryFn: ({ pageParam }) => readPage(parent, pageParam),
  getNextPageParam: nextOf,
});

/** LevelReader reads the units below a parent, and reports them. It shows nothing. */
function LevelReader({ parent, onRead }: { parent: string; onRead: (parent: string, level: Level) => void }) {
  const read = useInfiniteQuery({ ...below(parent), refetchOnMount: parent !== "" }); // the page has read the roots
  useEffect(() => {
    const units = read.data?.pages.flatMap((page) => page.organizationUnits) ?? [];
    const total = read.data?.pages.at(-1)?.totalResults ?? 0;
    onRead(parent, { units, rest: read.hasNextPage ? total - units.length : 0, error: read.error, isRead: read.data !== undefined, more: () => void (read.error ? read.refetch() : read.fetchNextPage()) });
  }, [parent, read.data, read.error, read.hasNextPage]);
  return null;
}

const more = "more:";

/** UnitTree shows the units, whose roots have been read. */
export function UnitTree() {
  const navigate = useNavigate();
  const [expanded, setExpanded] = useState<Set<string>>(() => new Set());
  const [levels, setLevels] = useState<Record<string, Level>>({});
  const report = (parent: string, level: Level) => setLevels((before) => ({ ...before, [parent]: level }));
  const rowsBelow = (parent: string): ReactNode[] => {
    const level = levels[parent];
    if (!level || (!level.isRead && !level.error)) {
      return [<Row key={`wait ${parent}`} id={`wait:${parent}`} text={t("Loading …")} />];
    }
    return [
      ...level.units.map((unit) => (
        <TreeItem key={unit.id} id={unit.id} textValue={String(unit["name"])} hasChildItems={!(levels[unit.id]?.isRead && levels[unit.id]?.units.length === 0)}>
          <TreeItemContent>
            {({ hasChildItems, isExpanded }) => (
              <div className="unit">
                {hasChildItems ? <Button slot="chevron" aria-label={`${isExpanded ? t("Collapse") : t("Expand")}: ${String(unit["name"])}`}>{isExpanded ? "▾" : "▸"}</Button> : <span className="leaf" />}
                <span className="name">{String(unit["name"])} <span className="quiet">{String(unit["handle"])}</span></span>
                {mayChange(path) && <span className="links">
                  <Link href={`${path}/${unit.id}`} aria-label={`${t("Edit")}: ${String(unit["name"])}`}>{t("Edit")}</Link>
                  <Link href={`${path}/new?parentId=${unit.id}`} aria-label={`${t("Create below")}: ${String(unit["name"])}`}>{t("Create below")}</Link>
                </span>}
              </div>
            )}
          </TreeItemContent>
          {rowsBelow(unit.id)}
        </TreeItem>
      )),
      ...(level.error || level.rest > 0 ? [<Row key={more + parent} id={more + parent} text={level.error ? t("These units could not be read. Try again") : t("Show more ({n})", { n: level.rest })} />] : []),
    ];
  };
  return (
    <>
      {["", ...expanded].map((parent) => <LevelReader key={parent} parent={parent} onRead={report} />)}
      {levels[""] && (
        <Tree
          aria-label={t("Organization units")} selectionMode="none" expandedKeys={expanded} onExpandedChange={(keys) => setExpanded(new Set([...keys].map(String)))}
          onAction={(key) => (String(key).startsWith(more) ? levels[String(key).slice(more.length)]?.more() : void navigate(`${path}/${key}`))}
        >
          {rowsBelow("")}
        </Tree>
      )}
    </>
  );
}

/** Row is an item of the tree that is no unit. */
function Row({ id, text }: { id: string; text: string }) {
  return <TreeItem id={id} textValue={text}><TreeItemContent><div className="unit"><span className="leaf" /><span className="name quiet">{text}</span></div></TreeItemContent></TreeItem>;
}
