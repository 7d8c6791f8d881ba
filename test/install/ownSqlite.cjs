// Puts bin/sqlite.cjs in the place of better-sqlite3 for all that a process loads, as the build does: for tests that run from source.
const Module = require("node:module")
const { join } = require("node:path")
const { pathToFileURL } = require("node:url")

const driver = join(__dirname, "../../bin/sqlite.cjs")
const isDriver = (id) => id === "better-sqlite3" || id.endsWith("/better-sqlite3/lib/index.js")

const resolve = Module._resolveFilename
Module._resolveFilename = (id, parent, ...rest) =>
  isDriver(id) && parent?.filename !== driver ? driver : resolve.call(Module, id, parent, ...rest)

Module.registerHooks?.({
  resolve: (id, context, next) =>
    isDriver(id) && context.parentURL !== pathToFileURL(driver).href
      ? { url: pathToFileURL(driver).href, format: "commonjs", shortCircuit: true }
      : next(id, context)
})
