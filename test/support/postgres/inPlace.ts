/**
 * Puts a database of Postgres in the place of the one in memory, for tests of the store that run over both engines: the modules of the program are
 * the same, but for these two layers.
 */
import type { Plugin } from "vitest/config"

const layers = new URL("./InMemory.ts", import.meta.url).pathname

const replaced: Readonly<Record<string, string>> = {
  "/src/store/Sql.ts": "sql",
  "/src/store/engine/ReadWorker.ts": "reads"
}

export const postgresInPlace: Plugin = {
  name: "postgres-in-place",
  enforce: "pre",
  transform: (code, id) => {
    const [, name] = Object.entries(replaced).find(([end]) => id.endsWith(end)) ?? []
    if (name === undefined) return null
    const own = "export const layerMemory:"
    if (!code.includes(own)) throw new Error(`${id} has no layerMemory`)
    return `${code.replace(own, "export const layerOfSqlite:")}\nexport { ${name} as layerMemory } from ${JSON.stringify(layers)}\n`
  }
}
