// Builds the addon of the transparent capture mode by one call of the C compiler: `npm run build:native`. Nothing is fetched. No installation runs
// this, and without the addon everything but that mode works.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = dirname(fileURLToPath(import.meta.url))

const fail = (reason) => {
  process.stderr.write(`The addon for transparent capture was not built: ${reason}\n`)
  process.exit(1)
}

if (process.platform !== "linux") fail("it is for Linux alone.")

/** A compiler that is named has to be there; else the first that is. */
const compilerOf = () => {
  const named = process.env.CC?.trim() ?? ""
  // The variable may hold flags, as for make.
  const offered = named === "" ? [["cc"], ["gcc"], ["clang"]] : [named.split(/\s+/u)]
  for (const [program, ...flags] of offered) {
    const { error, status } = spawnSync(program, [...flags, "--version"], { stdio: "ignore" })
    if (error === undefined && status === 0) return [program, ...flags]
  }
  return fail(
    named === ""
      ? "there is no C compiler (cc, gcc or clang) in PATH. Install one (such as the package 'gcc'), or name it with CC."
      : `the compiler that CC names does not run: ${named}.`
  )
}

/** Headers that are installed beside Node, where npm or the caller names no others. */
const headersOf = () => {
  const named = process.env.npm_config_nodedir ?? ""
  const places = named === "" ? [join(dirname(process.execPath), ".."), "/usr", "/usr/local"] : [named]
  const found = places
    .flatMap((place) => [join(place, "include/node"), join(place, "src")])
    .find((place) => existsSync(join(place, "node_api.h")))
  return (
    found ??
    fail(
      `Node's header node_api.h was not found below ${places.join(", ")}. Install Node's headers (with many systems the package 'libnode-dev' or 'nodejs-devel'), or name the folder of Node with npm_config_nodedir.`
    )
  )
}

const [compiler, ...flags] = compilerOf()
const headers = headersOf()
const built = join(folder, "build/Release/tproxy.node")
mkdirSync(dirname(built), { recursive: true })

const wanted = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", "-DNAPI_VERSION=8"]
const { error, signal, status } = spawnSync(
  compiler,
  [...flags, ...wanted, `-I${headers}`, "-o", built, join(folder, "tproxy.c")],
  { stdio: ["ignore", "inherit", "inherit"] }
)
if (error !== undefined) fail(error.message)
if (status !== 0) fail(`${compiler} ended with ${status ?? signal}. Its words above say why.`)
process.stdout.write(`Built ${built}\n`)
