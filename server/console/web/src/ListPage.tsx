// The list of the resources of a kind, with a filter and pages.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button, Cell, Column, Input, Label, Row, SearchField, Table, TableBody, TableHeader, TextField } from "react-aria-components";
import { Link, useNavigate, useSearchParams } from "react-router";
import { isForbidden } from "./api";
import { Empty } from "./Empty";
import { condition, find, pageSize, readList } from "./listing";
import { creationPath, type Item, mayChange, type Noun, titleOf, valueAt } from "./nouns";
import { formatTime, t } from "./texts";
import { below, UnitTree } from "./UnitTree";
import { Pill, toneOf } from "./parts/Pill";
import { Failed, Loading, Page } from "./ui";

export function ListPage({ noun }: { noun: Noun }) {
  const [query, setQuery] = useSearchParams();
  const parameters = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ["filter", "after", "offset"]) {
    const value = query.get(name);
    if (value) {
      parameters.set(name, value);
    }
  }
  const search = query.get("search") ?? "";
  const isTree = noun.path === "/organization-units" && !query.has("filter");
  const list = useQuery({
    queryKey: [noun.path, parameters.toString(), search],
    queryFn: () => (search ? find(noun, search) : readList(noun, parameters)),
    placeholderData: keepPreviousData,
    enabled: !isTree,
  });
  const roots = useInfiniteQuery({ ...below(""), enabled: isTree });
  const { error, isPending, refetch } = isTree ? roots : list;
  const isFiltered = query.has("filter") || search !== "";
  const isEmpty = !isFiltered && !list.isPlaceholderData && (isTree ? roots.data?.pages[0] : list.data)?.totalResults === 0;
  const isUsable = !isEmpty && !isForbidden(error);
  const next = list.data?.links.find((link) => link.rel === "next");
  return (
    <Page title={t(noun.title)} actions={isUsable && mayChange(noun.path) && <Link className="button primary" to={creationPath(noun)}>{t("Create")}</Link>}>
      {isUsable && (
        <div className="filter">
          {noun.search && <Search label={noun.search.label} text={search} onSearch={(text) => setQuery(text ? { search: text } : {}, { replace: search !== "" })} />}
          <Filter key={query.get("filter")} noun={noun} filter={query.get("filter") ?? ""} onFilter={(filter) => setQuery(filter ? { filter } : {})} />
        </div>
      )}
      {isPending && <Loading />}
      {error && !(isTree && roots.data) && <Failed error={error} retry={() => void refetch()} />}
      {isEmpty && <Empty noun={noun} />}
      {isTree && roots.data && isUsable && <UnitTree />}
      {!isTree && list.data && isUsable && (
        <>
          <Items noun={noun} items={list.data[noun.plural] as Item[]} />
          <div className="actions">
            <span className="quiet" role="status">{list.data.hasMore ? t("The first {n} are shown. Enter more characters to narrow the search.", { n: list.data.totalResults }) : t("{n} in total", { n: list.data.totalResults })}</span>
            {(query.has("after") || query.has("offset")) && <Button onPress={() => setQuery(query.has("filter") ? { filter: query.get("filter") ?? "" } : {})}>{t("First page")}</Button>}
            {next && <Button onPress={() => setQuery(pageOf(next.href))}>{t("Next page")}</Button>}
          </div>
        </>
      )}
    </Page>
  );
}

function pageOf(href: string): URLSearchParams {
  const query = new URLSearchParams(href.slice(href.indexOf("?")));
  query.delete("limit");
  return query;
}

/** hasLongWord reports whether a text has a word that is too long for a column, and may break anywhere. */
const hasLongWord = (text: string) => /\S{25}/.test(text);

function Items({ noun, items }: { noun: Noun; items: Item[] }) {
  const navigate = useNavigate();
  return (
    <div className="scroll">
      <Table className="react-aria-Table stacked" aria-label={t(noun.title)} onRowAction={(id) => void navigate(`${noun.path}/${id}`)}>
        <TableHeader>
          {noun.columns.map((column, i) => <Column key={column} isRowHeader={i === 0}>{t(titleOf(column))}</Column>)}
          <Column>{t("Changed")}</Column>
        </TableHeader>
        <TableBody renderEmptyState={() => <p className="quiet">{t("Nothing matches the filter.")}</p>}>
          {items.map((item) => (
            <Row key={item.id} id={item.id}>
              {noun.columns.map((column, i) => {
                const value = column === "status" ? t(valueAt(item, column)) : valueAt(item, column);
                const shown = i === 0 ? <Link to={`${noun.path}/${item.id}`}>{value || noun.label(item)}</Link> : <Shown column={column} value={value} state={valueAt(item, column)} />;
                return <Cell key={column} className={hasLongWord(value) ? "long" : ""} data-label={i === 0 ? undefined : t(titleOf(column))}>{shown}</Cell>;
              })}
              <Cell className="time" data-label={t("Changed")}>{formatTime(item["updatedAt"] as string)}</Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}

/** codes are the columns with texts that programs read. */
const codes = ["clientId", "handle", "identifier"];

function Shown({ column, value, state }: { column: string; value: string; state: string }) {
  if (value === "") {
    return <span className="faint">—</span>;
  }
  return column === "status" ? <Pill tone={toneOf(state)}>{value}</Pill> : codes.includes(column) ? <code>{value}</code> : value;
}

/** pause is how long typing must pause before the search starts, in milliseconds. */
const pause = 250;

function Search({ label, text, onSearch }: { label: string; text: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const searched = useRef(text);
  useEffect(() => {
    if (text !== searched.current) { // not from here, but by a link or Back
      searched.current = text;
      setTyped(text);
    }
  }, [text]);
  const search = (wanted: string) => {
    if (wanted !== searched.current) {
      searched.current = wanted;
      onSearch(wanted);
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => search(typed.trim()), pause);
    return () => clearTimeout(timer);
  });
  return (
    <form className="filter" role="search" aria-label={t("Search")} onSubmit={(event) => {
      event.preventDefault();
      search(typed.trim());
    }}>
      <SearchField value={typed} onChange={setTyped}><Label>{t(label)}</Label><Input maxLength={250} /></SearchField>
      {text && <Button onPress={() => setTyped("")}>{t("Show all")}</Button>}
    </form>
  );
}

const grammar = /^(\w+) (?:eq|sw) (".*")$/;

/** operatorFor returns the operator for a member: names and handles are found by their start. */
const operatorFor = (member: string) => (member === "name" || member === "handle" ? "sw" : "eq");

function Filter({ noun, filter, onFilter }: { noun: Noun; filter: string; onFilter: (filter: string) => void }) {
  const parts = grammar.exec(filter);
  const value = parts ? (JSON.parse(parts[2] ?? '""') as string) : "";
  return (
    <form className="filter" role="search" aria-label={t("Filter")} onSubmit={(event) => {
      event.preventDefault();
      const form = new FormData(event.currentTarget);
      const wanted = String(form.get("value"));
      const member = String(form.get("member"));
      onFilter(wanted === "" ? "" : condition(member, operatorFor(member), wanted));
    }}>
      <label className="field"><span>{t("Filter by")}</span>
        <select name="member" defaultValue={parts?.[1] ?? noun.filters[0]}>
          {noun.filters.map((member) => <option key={member} value={member}>{t(titleOf(member))}</option>)}
        </select>
      </label>
      <TextField name="value" defaultValue={value}><Label>{t("Value")}</Label><Input /></TextField>
      <Button type="submit">{t("Apply")}</Button>
      {filter && <Button onPress={() => onFilter("")}>{t("Clear")}</Button>}
    </form>
  );
}
