// Bundles the program into dist/ (or --out <folder>): one small entry, and the server, the command line and what they share
// in chunks of their own. Built beside the target and then moved into its place, so that a failed build breaks nothing. `--quick` leaves out what makes
// the program smaller and its start faster.
import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { compressed } from "./compressed.mjs"
import { cacheFileOf } from "./launch.cjs"
import { buildDashboard } from "./dashboard.mjs"
import { writeDashboardApi } from "./dashboardApi.mjs"
import { dataFiles } from "./dataFiles.mjs"
import { writeEmptyDatabase } from "./emptyDatabase.mjs"
import { noticesOf, packagesOf } from "./notices.mjs"
import { writePluginModule } from "./pluginModule.mjs"
import { writeSubjects } from "./subjects.mjs"
import { asciiOnly, buildThread, driverOf, threadOf, unresolvedIsAnError } from "./threads.mjs"

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
 * Calls to providers are made over HTTP/1.1. undici takes this where Node is built without HTTP/2; loading that is the dearest of Node's own modules.
 * Capture relays HTTP/2 of other programs, and loads the real one when it starts.
 */
const withoutHttp2 = {
  name: "without-http2",
  resolveId: (id, importer) => {
    if (id !== "node:http2") return null
    return importer?.startsWith(join(root, "src/observe/capture/")) ? { id, external: true } : "\0http2"
  },
  load: (id) => (id === "\0http2" ? "module.exports = { constants: {} }" : null)
}

const build = async (rolldown, folder, isQuick) => {
  const bundle = await rolldown({
    input: { program: join(root, "src/cli/main.ts") },
    cwd: root,
    platform: "node",
    // Native addons stay where npm put them; the driver of the database is dist/sqlite.cjs (bin/launch.cjs).
    external: ["better-sqlite3", "@node-rs/argon2", "@ngrok/ngrok"],
    // Its main file looks for the others at run time.
    resolve: { alias: { "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js") } },
    // What is named by `new URL("./file", import.meta.url)` (`bin/threads.mjs`) is copied beside the chunks.
    experimental: { resolveNewUrlToAsset: true },
    plugins: [withoutHttp2, dataFiles, asciiOnly],
    onLog: unresolvedIsAnError
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
      minify: isQuick ? false : { mangle: { keepNames: true }, compress: true, codegen: { removeWhitespace: true } }
    })
    const threads = output.filter(({ fileName }) => threadOf(fileName) !== null)
    if (threads.length === 0) throw new Error("The threads are not where the build looks for them.")
    const built = []
    for (const { fileName } of threads) {
      built.push(...(await buildThread(rolldown, threadOf(fileName), join(folder, fileName), isQuick)))
    }
    const assets = output.filter(({ type }) => type === "asset").map(({ fileName }) => fileName)
    for (const fileName of assets.filter((name) => name.endsWith(".mjs"))) {
      const file = join(folder, fileName)
      writeFileSync(file, driverOf(readFileSync(file, "utf8")))
    }
    // The viewer of the API document and the engine of plugins are read in this form where there is no other (src/entry/pages/Viewer.ts,
    // src/agents/plugins/sandbox/Texts.ts).
    for (const fileName of isQuick ? [] : assets.filter((name) => /swagger-ui|\.wasm$/.test(name))) {
      const file = join(folder, fileName)
      writeFileSync(`${file}.br`, await compressed(readFileSync(file)))
      rmSync(file)
    }
    return [...output, ...built]
  } finally {
    await bundle.close()
  }
}

const endsWithin = 60_000

/** The flags that bin/gateway gives to Node. */
const nodeFlags = () => readFileSync(join(root, "bin/gateway"), "utf8").split("\n", 1)[0].split(" ").slice(3)

/** Starts a command of a folder's program so that V8's code for it is kept. Its end gives null, or what it said if it failed. */
const compile = (folder, command, environment) => {
  const child = spawn(process.execPath, [...nodeFlags(), join(root, "bin/codeCache.mjs"), folder, ...command], {
    // Nothing of its surroundings: neither their settings nor their flags for Node.
    env: { PATH: process.env.PATH, GATEWAY_ENV_CONNECTIONS: "false", ...environment },
    stdio: ["ignore", "pipe", "pipe", "ipc"]
  })
  let said = ""
  child.stderr.on("data", (chunk) => (said += chunk))
  const tooLate = setTimeout(() => child.kill("SIGKILL"), endsWithin)
  const end = new Promise((done) => {
    child.once("error", (error) => (said += error.message))
    child.once("close", (code) => {
      clearTimeout(tooLate)
      done(code === 0 ? null : said.trim().slice(-500))
    })
  })
  return { child, end }
}

/** Lets V8 compile the program once and keeps what it made: first of a server, then of a command that asks it. Null, or why it could not. */
const cacheCode = async (folder) => {
  const dataDir = mkdtempSync(join(tmpdir(), "gateway-build-"))
  try {
    const server = compile(folder, ["serve", "--port", "0", "--no-open"], { DATA_DIR: dataDir })
    /** Waits for the server's next message by way of `emitter`; nothing when it has ended. */
    const next = async (emitter, event) => {
      const [said] = await Promise.race([once(emitter, event), server.end.then(() => [""])])
      return String(said)
    }
    const url = /http:\S+/.exec(await next(server.child.stdout, "data"))?.[0]
    if (url === undefined) return await server.end
    server.child.send("keep")
    if ((await next(server.child, "message")) === "") return await server.end
    const { port } = new URL(url)
    const { child, end } = compile(folder, ["providers", "list"], { DATA_DIR: dataDir, PORT: port })
    child.stdout.resume()
    const problem = await end
    server.child.kill("SIGTERM")
    return problem ?? (await server.end)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Puts `fresh` where `out` is. The old folder steps aside first, because a folder cannot be renamed over a full one. */
const swap = (fresh, out) => {
  const old = `${fresh}.old`
  if (existsSync(out)) renameSync(out, old)
  renameSync(fresh, out)
  rmSync(old, { recursive: true, force: true })
}

const packedFrom = 30_000

/**
 * Chunks that few runs read: those that hold a package alone (the table of prices, YAML), the guards' detectors and cleaning of text, the tools that are
 * set up, and the skills, which the management alone reads. They are a quarter smaller, and take some milliseconds to read where they are needed.
 */
const isSeldomRead = (name) => /^(?:dist|Detectors|Sanitiser|Skills|tools)-/.test(name)

/** Chunks so large that their compression is worth the millisecond that each start takes to read one; `layers` would take three. */
const largeFrom = 250_000
const isLarge = (name, bytes) => bytes >= largeFrom && !name.startsWith("layers-")

/** Compresses large chunks that neither a server nor a command has loaded while its code was compiled, and very large ones. `bin/launch.cjs` reads them. */
const packRareChunks = async (folder) => {
  const chunks = join(folder, "chunks")
  for (const name of readdirSync(chunks)) {
    const file = join(chunks, name)
    const { size } = statSync(file)
    if (!name.endsWith(".cjs") || size < packedFrom) continue
    if (existsSync(cacheFileOf(folder, file)) && !isSeldomRead(name) && !isLarge(name, size)) continue
    writeFileSync(`${file}.br`, await compressed(readFileSync(file)))
    rmSync(file)
  }
}

const { values } = parseArgs({
  options: { out: { type: "string", default: join(root, "dist") }, quick: { type: "boolean", default: false } }
})
const out = resolve(values.out)

const bundler = await loadBundler(out)
if (bundler === null) {
  process.stdout.write(`Kept the program in ${out}: the bundler is not installed.\n`)
} else {
  writeSubjects()
  await writeDashboardApi(bundler.rolldown)
  const fresh = `${out}.${process.pid}.new`
  try {
    const output = await build(bundler.rolldown, fresh, values.quick)
    copyFileSync(join(root, "bin/launch.cjs"), join(fresh, "main.cjs"))
    for (const name of ["codeFolder.cjs", "sqlite.cjs"]) copyFileSync(join(root, "bin", name), join(fresh, name))
    await writePluginModule(bundler.rolldown, fresh)
    const pages = await buildDashboard(bundler.rolldown, fresh, values.quick)
    if (!values.quick) await writeEmptyDatabase(bundler.rolldown, fresh)
    const modules = [...output, ...pages].flatMap((part) => part.moduleIds ?? [])
    writeFileSync(join(fresh, "THIRD-PARTY-NOTICES.txt"), noticesOf(modules, join(root, "vendor")))
    writeFileSync(join(fresh, "packages.json"), `${JSON.stringify(packagesOf(modules), null, 2)}\n`)
    swap(fresh, out)
    // In its place: V8 keeps the paths that stack traces show with the code.
    const problem = values.quick ? null : await cacheCode(out)
    if (problem !== null) {
      process.stdout.write(`The program starts slower: its compiled code could not be kept. ${problem}\n`)
    } else if (!values.quick) {
      await packRareChunks(out)
    }
    const bytes = output.reduce((sum, part) => sum + (part.type === "chunk" ? part.code : part.source).length, 0)
    process.stdout.write(`Built ${out}: ${output.length} files, ${(bytes / 1_048_576).toFixed(1)} MiB.\n`)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
