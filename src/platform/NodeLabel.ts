/** Name of a gateway among those on one database, as people see it: its machine and port. */
import { hostname } from "node:os"
import type { AppConfigShape } from "./AppConfig.ts"

/** Null for one that has its database for itself. */
export const nodeLabelOf = ({ databaseUrl, port }: Pick<AppConfigShape, "databaseUrl" | "port">): string | null =>
  databaseUrl === null ? null : port === 0 ? hostname() : `${hostname()}:${port}`
