/** Names of tests as they stand in their files, for tables that say where something is shown. */
import { assert } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"

const root = new URL("../../../", import.meta.url)

/** A test file, and names of tests as they stand in it. */
export type Shown = readonly [path: string, name: string, ...others: ReadonlyArray<string>]

export const toCell = ([path, ...names]: Shown): string => `\`${path}\`: ${names.map((name) => `"${name}"`).join("; ")}`

/** Returns the file's text. */
export const assertThere = ([path, ...names]: Shown): string => {
  const file = new URL(path, root)
  assert.isTrue(existsSync(file), path)
  const text = readFileSync(file, "utf8")
  for (const name of names) {
    assert.isTrue(text.includes(`"${name}"`) || text.includes(`\`${name}\``), `${path} has no test '${name}'`)
  }
  return text
}
