/** Modules of the program, bundled from src for parts of the bench that need no built gateway. */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import { dataFiles } from "../../bin/dataFiles.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const cache = path.join(root, "bench/.cache")

/**
 * Runs `use` with the bundled modules; `files` are name → path in the repository. They load others while they work, so the bundle is there until
 * it is done.
 */
export const withSources = async (files, use) => {
  fs.mkdirSync(cache, { recursive: true })
  const folder = fs.mkdtempSync(path.join(cache, "sources-"))
  try {
    const bundle = await rolldown({
      input: Object.fromEntries(Object.entries(files).map(([name, file]) => [name, path.join(root, file)])),
      cwd: root,
      platform: "node",
      plugins: [dataFiles],
      external: ["better-sqlite3", "@node-rs/argon2", "rolldown"],
      experimental: { resolveNewUrlToAsset: true }
    })
    await bundle.write({
      dir: folder,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs"
    })
    await bundle.close()
    const modules = {}
    for (const name of Object.keys(files)) {
      modules[name] = await import(pathToFileURL(path.join(folder, `${name}.mjs`)).href)
    }
    return await use(modules)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** CPU milliseconds of one call, of all threads: the best and the median of the windows. */
export const cpuOf = (call, windowMs) => {
  let calls = 0
  const warmUntil = performance.now() + windowMs * 2
  while (performance.now() < warmUntil) call(calls++)
  const windows = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage()
    const until = performance.now() + windowMs
    let done = 0
    while (performance.now() < until) {
      call(calls++)
      done += 1
    }
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1_000 / done
  }).toSorted((a, b) => a - b)
  return { bestMs: windows[0], medianMs: windows[3] }
}
