/** Where flags are shown: each has a line in the table of `test/http/flags`, which is run in all its positions. */
import { readdirSync, readFileSync } from "node:fs"
import { flagCatalog, type FlagKey } from "../../../src/subjects/flags/FlagCatalog.ts"
import type { Shown } from "./Shown.ts"
import type { StatementRow } from "./Statement.ts"

const folder = new URL("../../http/flags/", import.meta.url)
const table = "test/http/flags/positions.slow.test.ts"

/** The text of the table. */
export const flagTable = (): string =>
  [...readdirSync(new URL("rows/", folder)).map((name) => `rows/${name}`), "positions.slow.test.ts"]
    .map((name) => readFileSync(new URL(name, folder), "utf8"))
    .join("\n")

export const positionsOf = (key: FlagKey): Shown => [
  table,
  key === "ENABLE_TLS_FINGERPRINT"
    ? "${refused} cannot be switched on, and says so in both ways"
    : "${row.flag} switches what its line says"
]

const tools = "test/http/inference/codingTools.test.ts"
const blocks = "test/http/mcp/skillBlocks.test.ts"

export const flagRows: ReadonlyArray<StatementRow> = [
  {
    what: "There are 38 flags, each does something, and each is seen in all its positions by environment and by database",
    shown: [
      [table, "is here for all of them, with all that it can be set to"],
      ["test/arch/flags.test.ts", "are none"]
    ]
  },
  ...flagCatalog.map(({ key }) => ({ what: `\`${key}\``, shown: [positionsOf(key)] })),
  {
    what: "Headers of a coding tool go on to its own provider only, and nothing is made up for another client",
    shown: [
      [tools, "${name}: go on to its own provider only, and for no other client"],
      [tools, "are asked for with the tool's own headers, and a relay for one client is asked by it only"],
      ["test/unit/tools/ownRequests.test.ts", "are told of for every tool of the catalogue, and for no other"]
    ]
  },
  {
    what: "Code blocks of skills run in a sandbox with bounds, for who manages the gateway, with the network of their flag",
    shown: [
      [blocks, "is run as the body of an async function, without anything of the machine"],
      [blocks, "is bounded in time, memory and what comes out, whatever it changes around itself"],
      [blocks, "asks nobody while SKILLS_SANDBOX_NETWORK_ENABLED is off, and by the guarded client while it is on"],
      [blocks, "is refused in other languages, without a number that is there, and to all who do not manage"],
      [blocks, "runs beside one other at most"]
    ]
  }
]
