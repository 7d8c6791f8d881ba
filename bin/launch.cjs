/**
 * Loads the built program (dist/program.cjs and its chunks), with what V8 has compiled of it before (dist/cache), which halves the start.
 * The build copies this file to dist/main.cjs. A cache that does not fit this V8 or its flags is left aside: then the source is compiled.
 */
const { readFileSync } = require("node:fs")
const { createRequire } = require("node:module")
const { basename, dirname, join, resolve } = require("node:path")
const { pathToFileURL } = require("node:url")
const { Script } = require("node:vm")

const begin = '(function (exports, require, module, __filename, __dirname) {"use strict";'
const end = "\n})"

const read = (file) => {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** Returns the path of the compiled code of a file. */
const cacheFileOf = (folder, file) => join(folder, "cache", `${basename(file)}.v8`)

/** Runs the program of a folder. `onScript` gets each script with its file, before it runs. */
const launch = (folder, onScript = () => {}) => {
  const packages = createRequire(join(folder, "program.cjs"))
  const modules = new Map()
  const load = (file) => {
    const known = modules.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(file, module)
    // The build writes ASCII only, which is read fastest as what it is.
    const script = new Script(begin + readFileSync(file, "latin1") + end, {
      filename: pathToFileURL(file).href,
      columnOffset: -begin.length,
      cachedData: read(cacheFileOf(folder, file))
    })
    onScript(script, file)
    const require = (id) => (id.startsWith(".") ? load(resolve(dirname(file), id)) : packages(id))
    script.runInThisContext().call(module.exports, module.exports, require, module, file, dirname(file))
    return module.exports
  }
  load(join(folder, "program.cjs"))
}

module.exports = { cacheFileOf, launch }

// As dist/main.cjs it is the program's entry.
if (basename(__filename) === "main.cjs") launch(__dirname)
