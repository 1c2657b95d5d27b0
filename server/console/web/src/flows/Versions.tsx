// The versions of a flow. Restoring one makes its content the next version.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, must } from "../api";
import { formatTime, t } from "../texts";
import { Confirm, Failed, Loading } from "../ui";

export function Versions({ id }: { id: string }) {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const read = useQuery({ queryKey: ["/flows", id, "versions"], queryFn: async () => must(await api.GET("/flows/{id}/versions", { params: { path: { id }, query: { limit: 100 } } })) });
  if (read.error) {
    return <Failed error={read.error} retry={() => void read.refetch()} />;
  }
  if (!read.data) {
    return <Loading />;
  }
  const restore = async (version: number) => {
    try {
      must(await api.POST("/flows/{id}/restore", { params: { path: { id } }, body: { version } }));
      await cache.invalidateQueries({ queryKey: ["/flows"] });
    } catch (error) {
      setFailed(error);
    }
  };
  return (
    <>
      {Boolean(failed) && <Failed error={failed} />}
      <ul className="parts">
        {read.data.versions.map((v) => (
          <li key={v.version}>
            <span>{t("Version {n}", { n: v.version })} <span className="quiet">{formatTime(v.createdAt)} {v.isActive && t("active")}</span></span>
            {!v.isActive && <Confirm label={t("Restore")} question={`${t("Restore")}: ${t("Version {n}", { n: v.version })}?`} onConfirm={() => void restore(v.version)} />}
          </li>
        ))}
      </ul>
    </>
  );
}
