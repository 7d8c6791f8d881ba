/**
 * Loads the built program (dist/program.cjs and its chunks), with what V8 has compiled of it before, which halves the start: the code that the
 * build has kept (dist/cache), or, where that is missing or of another Node, what former starts have kept in the data folder (codeFolder.cjs).
 * The build copies this file to dist/main.cjs. A cache that does not fit this V8 or its flags is left aside: then the source is compiled.
 */
const { readFileSync } = require("node:fs")
const { createRequire } = require("node:module")
const { basename, dirname, join, resolve } = require("node:path")
const { pathToFileURL } = require("node:url")
const { Script } = require("node:vm")
const { brotliDecompressSync } = require("node:zlib")

const begin = '(function (exports, require, module, __filename, __dirname) {"use strict";'
const end = "\n})"

/** Packages that the program names and the build has replaced. */
const own = { "better-sqlite3": "./sqlite.cjs" }

const read = (file) => {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** Reads a script. Large ones that no start needs are kept compressed: the build writes ASCII only, which is read fastest as what it is. */
const textOf = (file) => {
  const bytes = read(file)
  return (bytes ?? brotliDecompressSync(readFileSync(`${file}.br`))).toString("latin1")
}

/** Returns the path of the compiled code of a file. */
const cacheFileOf = (folder, file) => join(folder, "cache", `${basename(file)}.v8`)

/** Runs the program of a folder. `onScript` gets each script with its file, before it runs; `kept` finds compiled code that is not the build's. */
const launch = (folder, onScript = () => {}, kept = null) => {
  const packages = createRequire(join(folder, "program.cjs"))
  const modules = new Map()
  const scriptOf = (file, source, cachedData) =>
    new Script(source, { filename: pathToFileURL(file).href, columnOffset: -begin.length, cachedData })
  /** Null while the code of the build fits. */
  let other = null
  const compiled = (file, source) => {
    if (other !== null) return other.compiled(file, (cachedData) => scriptOf(file, source, cachedData))
    const cachedData = read(cacheFileOf(folder, file))
    const script = scriptOf(file, source, cachedData)
    if (modules.size > 1 || kept === null || (cachedData !== undefined && script.cachedDataRejected !== true)) {
      return script
    }
    other = kept(source)
    return other === null ? script : other.compiled(file, (known) => scriptOf(file, source, known))
  }
  const load = (file) => {
    const known = modules.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(file, module)
    const script = compiled(file, begin + textOf(file) + end)
    onScript(script, file)
    const require = (id) => (id.startsWith(".") ? load(resolve(dirname(file), id)) : packages(own[id] ?? id))
    script.runInThisContext().call(module.exports, module.exports, require, module, file, dirname(file))
    return module.exports
  }
  load(join(folder, "program.cjs"))
}

module.exports = { cacheFileOf, launch }

// As dist/main.cjs it is the program's entry.
if (basename(__filename) === "main.cjs") {
  launch(__dirname, undefined, (source) => require("./codeFolder.cjs").codeFolder(source))
}
