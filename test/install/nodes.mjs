/**
 * Builds, packs, installs and uses the program with other versions of Node than the one that runs this: `node test/install/nodes.mjs [22 24]`. Each is
 * the registry's package of Node for this platform; one that cannot be had is named and left out. The tests of the store run on Node's own SQLite
 * (bin/sqlite.cjs) there. Compilers are replaced by programs that fail, because nothing may need one.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { nodeFolder, versions } from "./nodePackages.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const vitest = join(root, "node_modules/vitest/vitest.mjs")

/** A folder of compilers that fail. */
const withoutCompilers = () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-no-compiler-"))
  for (const name of ["cc", "c++", "gcc", "g++", "clang", "make"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "no ${name} here" >&2\nexit 1\n`, { mode: 0o755 })
  }
  return folder
}

/**
 * Tests that depend on what SQLite does. Left out are the hashes of old schemas, because
 * SQLite before 3.52 writes what ALTER TABLE leaves of a table's text in another way.
 */
const matter = [
  ...[
    "Driver",
    "Backup",
    "EmptyDatabase",
    "Sql",
    "WriteQueue",
    "lockedStore",
    "UsageRepo",
    "UsageSearchRepo",
    "Repos"
  ].map((name) => `test/unit/store/${name}.test.ts`),
  "test/unit/store/restore",
  "--testNamePattern",
  "^(?!.*has the schema of every version as it was)"
]

const run = (label, args, environment) => {
  const begun = performance.now()
  const { status } = spawnSync("node", [vitest, "run", ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit"]
  })
  process.stdout.write(
    `== ${label}: ${status === 0 ? "ok" : "FAILED"}, ${Math.round((performance.now() - begun) / 1000)} s\n`
  )
  return status === 0
}

const asked = process.argv.slice(2)
const compilers = withoutCompilers()
let failed = 0
for (const major of asked.length > 0 ? asked : Object.keys(versions)) {
  const version = versions[major]
  const bin = version === undefined ? null : nodeFolder(version)
  if (bin === null) {
    process.stdout.write(`== Node ${major}: cannot be had here, so nothing is known of it\n`)
    // A version that nobody has pinned is a mistake of the caller.
    if (version === undefined) failed += 1
    continue
  }
  const environment = { PATH: [bin, compilers, process.env.PATH].join(delimiter) }
  const hook = `--require ${join(root, "test/install/ownSqlite.cjs")}`
  const results = [
    run(
      `Node ${version}: build, package, first hour`,
      ["--config", "test/install/vitest.config.ts", "package", "firstHour", "plugin"],
      environment
    ),
    run(`Node ${version}: the store on its SQLite`, ["--config", "test/vitest.config.ts", ...matter], {
      ...environment,
      TEST_PART: "shared",
      NODE_OPTIONS: hook
    })
  ]
  failed += results.filter((good) => !good).length
}
rmSync(compilers, { recursive: true, force: true })
process.exitCode = failed === 0 ? 0 : 1
