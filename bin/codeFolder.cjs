/**
 * Keeps what V8 has compiled of the program in the data folder, for a package that comes without compiled code: this belongs to one version of
 * Node, on one kind of processor. A server keeps it once it has run for some seconds, commands what they have loaded besides when they end.
 * The build copies this file to dist/codeFolder.cjs.
 */
const { createHash } = require("node:crypto")
const { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = require("node:fs")
const { homedir } = require("node:os")
const { basename, join } = require("node:path")

const serverKeepsAfterMs = 10_000
/** Time between two files, in which requests are served. */
const betweenFilesMs = 20

const dataFolder = () => {
  const given = process.env.DATA_DIR
  if (given === undefined || given === "") return join(homedir(), ".gateway")
  return given === "~" || given.startsWith("~/") ? join(homedir(), given.slice(1)) : given
}

/** Checks whether only the user of this process can write in a folder: what lies there is run. */
const isOwn = (folder) => {
  const stat = statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined || !stat.isDirectory()) return false
  return process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0)
}

const quietly = (run) => {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** Returns where compiled code of this program, Node and set of flags is kept; `source` is the text of the entry, which names all other files. */
const folderOf = (cache, source) => {
  const parts = [process.version, process.versions.v8, process.arch, ...process.execArgv, source]
  return join(cache, `code-${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16)}`)
}

const keep = (folder, [file, script]) => {
  const target = join(folder, `${basename(file)}.v8`)
  const fresh = `${target}.${process.pid}`
  writeFileSync(fresh, script.createCachedData(), { mode: 0o600 })
  renameSync(fresh, target)
}

/** Makes the folder, in place of those of other versions. False: this process may not. */
const made = (cache, folder) => {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  if (!isOwn(cache)) return false
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(cache)) {
    if (name.startsWith("code-") && name !== basename(folder))
      rmSync(join(cache, name), { recursive: true, force: true })
  }
  return isOwn(folder)
}

/** Finds and keeps compiled code for the program with this entry. Null where there is no data folder yet, or another user's. */
const codeFolder = (source) => {
  const data = dataFolder()
  if (quietly(() => isOwn(data)) !== true && process.argv[2] !== "serve") return null
  const cache = join(data, "cache")
  const folder = folderOf(cache, source)
  const isTrusted = quietly(() => isOwn(cache) && isOwn(folder)) === true
  const whole = join(folder, "server")
  const fresh = []
  const all = []

  const server = setTimeout(() => {
    const scripts = quietly(
      () => isOwn(data) && statSync(whole, { throwIfNoEntry: false }) === undefined && made(cache, folder)
    )
      ? [...all]
      : []
    const next = () => {
      const script = scripts.shift()
      if (script === undefined) return
      quietly(() => {
        keep(folder, script)
        if (scripts.length === 0) writeFileSync(whole, "", { mode: 0o600 })
      })
      setTimeout(next, betweenFilesMs).unref()
    }
    next()
    fresh.length = 0
  }, serverKeepsAfterMs)
  server.unref()
  process.once("exit", () =>
    quietly(() => {
      if (fresh.length > 0 && isOwn(data) && made(cache, folder)) fresh.forEach((script) => keep(folder, script))
    })
  )
  return {
    compiled: (file, make) => {
      const known = isTrusted ? quietly(() => readFileSync(join(folder, `${basename(file)}.v8`))) : undefined
      const script = make(known)
      all.push([file, script])
      if (known === undefined || script.cachedDataRejected === true) fresh.push([file, script])
      return script
    }
  }
}

module.exports = { codeFolder }
