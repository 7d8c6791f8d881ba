/** The table of rights in docs/teams.md is the one that the program has. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { routes } from "../../src/contract/Routes.ts"
import { operations, rights } from "../../src/contract/tiers/Rights.ts"
import { userRoles } from "../../src/subjects/users/entity.ts"

describe("rights of people", () => {
  it("are in docs/teams.md as they are in the program", () => {
    const page = readFileSync(new URL("../../docs/teams.md", import.meta.url), "utf8")
    const known = new Set<string>(operations)
    const rows = Array.from(page.matchAll(/^\| `(\w+)` \|(.*)\|$/gm), ([, name = "", cells = ""]) =>
      known.has(name) ? `${name}|${cells}`.split("|").slice(0, 1 + userRoles.length) : []
    )
      .filter((cells) => cells.length > 0)
      .map((cells) => cells.map((cell) => cell.trim()).join(" "))
    assert.deepStrictEqual(
      rows,
      operations.map((operation) => [operation, ...userRoles.map((role) => rights[operation][role])].join(" "))
    )
  })

  it("are each of some route", () => {
    const used = new Set(routes.map((route) => ("operation" in route ? route.operation : null)))
    assert.deepStrictEqual(
      operations.filter((operation) => !used.has(operation)),
      []
    )
  })
})
