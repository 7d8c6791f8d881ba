/**
 * `docs/coverage.md` has every route, header, error and limit of the inference plane with the tests that show it. Written anew by
 * `UPDATE_DOCS=1 npm test -- test/arch/coverage`.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type EdgeRoute, edgeRoutes } from "../../../src/contract/EdgeRoutes.ts"
import { endpointRows } from "./endpoints.ts"
import { errorRows, type FactRow, headerRows, limitRows, routingRows } from "./facts.ts"
import { flagRows } from "./flags.ts"
import { bridgeRows, captureRows } from "./capture.ts"
import { inspectorRows } from "./inspector.ts"
import { playgroundRows } from "./playground.ts"
import { pluginRows } from "./plugins.ts"
import { assertThere, type Shown, toCell } from "./Shown.ts"
import { signInRows } from "./signIn.ts"
import type { StatementRow } from "./Statement.ts"

const file = fileURLToPath(new URL("../../../docs/coverage.md", import.meta.url))

const pathsOf = (key: EdgeRoute["key"]): string =>
  edgeRoutes
    .filter((route) => route.key === key)
    .map(({ method, path }) => `\`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}\``)
    .join(", ")

const cells = (tests: ReadonlyArray<Shown>): string => tests.map(toCell).join("; ")

const factTable = (title: string, rows: ReadonlyArray<FactRow>): ReadonlyArray<string> => [
  `## ${title}`,
  "",
  "| | what | tests |",
  "| --- | --- | --- |",
  ...rows.map(({ name, shown, what }) => `| ${name} | ${what} | ${cells(shown)} |`),
  ""
]

const statements: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<StatementRow>]> = [
  ["Sign-in at providers", signInRows],
  ["Traffic inspector", inspectorRows],
  ["Capture", captureRows],
  ["Agent bridge", bridgeRows],
  ["Playground", playgroundRows],
  ["Plugins", pluginRows],
  ["Feature flags", flagRows]
]

const statementTable = (title: string, rows: ReadonlyArray<StatementRow>): ReadonlyArray<string> => [
  `## ${title}`,
  "",
  "| what | tests |",
  "| --- | --- |",
  ...rows.map(({ shown, what }) => `| ${what} | ${cells(shown)} |`),
  ""
]

const page = [
  "# What is covered by which test",
  "",
  "Every route, header, error and limit of the inference plane, with tests that show it on real sockets where that is possible; and what is",
  "said of sign-ins, the inspector, capture, the playground, plugins and flags. This page is made from tables beside the tests; a route without a test does not compile, and a test that is renamed",
  "or gone fails the check.",
  "",
  "## Routes",
  "",
  "| routes | what | tests |",
  "| --- | --- | --- |",
  ...(Object.keys(endpointRows) as ReadonlyArray<EdgeRoute["key"]>).map(
    (key) => `| ${pathsOf(key)} | ${endpointRows[key].what} | ${cells(endpointRows[key].tests)} |`
  ),
  "",
  ...factTable("Names of models", routingRows),
  ...factTable("Headers", headerRows),
  ...factTable("Errors", errorRows),
  ...factTable("Limits", limitRows),
  ...statements.flatMap(([title, rows]) => statementTable(title, rows))
].join("\n")

describe("docs/coverage.md", () => {
  it("is up to date", () => {
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page)
    assert.strictEqual(readFileSync(file, "utf8"), page)
  })

  for (const [key, { tests }] of Object.entries(endpointRows)) {
    it(`${key} is shown by tests that are there`, () => {
      assert.isNotEmpty(tests)
      for (const shown of tests) assertThere(shown)
    })
  }

  for (const { name, shown, what } of [...routingRows, ...headerRows, ...errorRows, ...limitRows]) {
    it(`${name} (${what}) is shown by tests that are there`, () => {
      assert.isNotEmpty(shown)
      for (const each of shown) assertThere(each)
    })
  }

  for (const [title, rows] of statements) {
    for (const { shown, what } of rows) {
      it(`${title}: ${what}`, () => {
        assert.isNotEmpty(shown)
        for (const each of shown) assertThere(each)
      })
    }
  }
})
