// Bundles the program into dist/ (or --out <folder>): one small entry, and the server, the command line and what they share
// in chunks of their own. Built beside the target and then moved into its place, so that a failed build breaks nothing.
import { spawn } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))

const loadBundler = async (out) => {
  try {
    return await import("rolldown")
  } catch (error) {
    if (error?.code !== "ERR_MODULE_NOT_FOUND") throw error
    // An installation without development dependencies keeps the program it came with.
    if (existsSync(join(out, "main.cjs"))) return null
    throw new Error("The bundler is not installed: run 'npm ci' with development dependencies.", { cause: error })
  }
}

/**
 * Writes code in ASCII: V8 keeps a file with one wider character in two bytes per character, and takes longer to load it. What is not ASCII
 * stands in strings and patterns, where an escape means the same.
 */
const asciiOnly = {
  name: "ascii-only",
  generateBundle: (_, bundle) => {
    for (const part of Object.values(bundle)) {
      if (part.type !== "chunk") continue
      part.code = part.code.replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      )
    }
  }
}

const build = async (rolldown, folder) => {
  const bundle = await rolldown({
    input: { program: join(root, "src/cli/main.ts") },
    cwd: root,
    platform: "node",
    // Native addons stay where npm put them.
    external: ["better-sqlite3", "@node-rs/argon2"],
    // What is named by `new URL("./file", import.meta.url)` (the tokeniser's thread) is copied beside the chunks.
    experimental: { resolveNewUrlToAsset: true },
    plugins: [asciiOnly],
    onLog: (level, log, report) => report(level === "warn" && log.code === "UNRESOLVED_IMPORT" ? "error" : level, log)
  })
  try {
    const { output } = await bundle.write({
      dir: folder,
      // Scripts, because Node keeps no compiled code of ECMAScript modules (bin/launch.cjs).
      format: "cjs",
      dynamicImportInCjs: false,
      entryFileNames: "[name].cjs",
      chunkFileNames: "chunks/[name]-[hash].cjs",
      // Names of functions and classes stay, so that a stack trace can be read.
      sourcemap: process.env.GATEWAY_SOURCEMAP === "1",
      minify: { mangle: { keepNames: true }, compress: true, codegen: { removeWhitespace: true } }
    })
    return output
  } finally {
    await bundle.close()
  }
}

const startsWithin = 60_000

/** The flags that bin/gateway gives to Node. */
const nodeFlags = () => readFileSync(join(root, "bin/gateway"), "utf8").split("\n", 1)[0].split(" ").slice(3)

/** Lets V8 compile the program once and keeps what it made. Null, or why there is no compiled code. */
const cacheCode = (folder) =>
  new Promise((done) => {
    const dataDir = mkdtempSync(join(tmpdir(), "gateway-build-"))
    const child = spawn(process.execPath, [...nodeFlags(), join(root, "bin/codeCache.mjs"), folder], {
      // Nothing of its surroundings: neither their settings nor their flags for Node.
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, GATEWAY_ENV_CONNECTIONS: "false" },
      stdio: ["ignore", "pipe", "pipe", "ipc"]
    })
    let said = ""
    let isWritten = false
    const tooLate = setTimeout(() => child.kill("SIGKILL"), startsWithin)
    child.stderr.on("data", (chunk) => (said += chunk))
    child.stdout.on("data", (chunk) => {
      if (String(chunk).includes("listening")) child.send("write")
    })
    child.once("message", () => (isWritten = true))
    child.once("error", (error) => (said += error.message))
    child.once("close", () => {
      clearTimeout(tooLate)
      rmSync(dataDir, { recursive: true, force: true })
      done(isWritten ? null : said.trim().slice(-500))
    })
  })

/** Puts `fresh` where `out` is. The old folder steps aside first, because a folder cannot be renamed over a full one. */
const swap = (fresh, out) => {
  const old = `${fresh}.old`
  if (existsSync(out)) renameSync(out, old)
  renameSync(fresh, out)
  rmSync(old, { recursive: true, force: true })
}

const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "dist") } } })
const out = resolve(values.out)

const bundler = await loadBundler(out)
if (bundler === null) {
  process.stdout.write(`Kept the program in ${out}: the bundler is not installed.\n`)
} else {
  const fresh = `${out}.${process.pid}.new`
  try {
    const output = await build(bundler.rolldown, fresh)
    copyFileSync(join(root, "bin/launch.cjs"), join(fresh, "main.cjs"))
    swap(fresh, out)
    // In its place: V8 keeps the paths that stack traces show with the code.
    const problem = await cacheCode(out)
    if (problem !== null) {
      process.stdout.write(`The program starts slower: its compiled code could not be kept. ${problem}\n`)
    }
    const bytes = output.reduce((sum, part) => sum + (part.type === "chunk" ? part.code : part.source).length, 0)
    process.stdout.write(`Built ${out}: ${output.length} files, ${(bytes / 1_048_576).toFixed(1)} MiB.\n`)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
