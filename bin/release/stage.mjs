/**
 * Packs the built program as people install it: the files of package.json's list, with a manifest that has what an installation reads and nothing
 * of how the program is made. `npm run package -- --out <folder>` prints where the file is; `bin/release/release.mjs` packs in the same way.
 */
import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const project = fileURLToPath(new URL("../..", import.meta.url))

/** Fields of package.json that an installation, or a registry's page about the package, reads. */
const published = [
  ["name", "version", "description", "license", "type", "engines", "bin", "man", "exports", "repository", "homepage"],
  ["dependencies", "peerDependencies", "peerDependenciesMeta", "optionalDependencies"]
].flat()

/** Returns the manifest of the package. */
export const manifestOf = (manifest) =>
  Object.fromEntries(published.filter((field) => field in manifest).map((field) => [field, manifest[field]]))

const npm = (args, cwd) =>
  JSON.parse(
    execFileSync("npm", [...args, "--json", "--ignore-scripts"], { cwd, encoding: "utf8", maxBuffer: 1 << 26 })
  )

/** Size in bytes from which a file of the dashboard is packed compressed: smaller ones gain by those beside them in the package's own compression. */
const packedFrom = 50_000

/** The form in which a file is packed: of the large ones of the dashboard that which the build has compressed, and which browsers are sent. */
const packedAs = (root, path) => {
  if (!path.startsWith("dist/dashboard/assets/") || statSync(join(root, path)).size < packedFrom) return path
  return existsSync(join(root, `${path}.br`)) ? `${path}.br` : path
}

/** Packs the project of `root` into a file in `folder`; returns what npm says of it: filename, size, files. */
export const pack = (root, folder) => {
  const [{ files }] = npm(["pack", "--dry-run"], root)
  const stage = mkdtempSync(join(tmpdir(), "gateway-stage-"))
  try {
    for (const { path: listed } of files) {
      const path = packedAs(root, listed)
      mkdirSync(dirname(join(stage, path)), { recursive: true })
      copyFileSync(join(root, path), join(stage, path))
    }
    const manifest = manifestOf(JSON.parse(readFileSync(join(root, "package.json"), "utf8")))
    writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
    mkdirSync(folder, { recursive: true })
    return npm(["pack", "--pack-destination", folder], stage)[0]
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { out: { type: "string", default: "." } } })
  const out = resolve(values.out)
  process.stdout.write(`${join(out, pack(project, out).filename)}\n`)
}
