/** The build of the last release, made once from its commit: what `--gate` compares with. */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const releaseFile = path.join(root, "bench/release.json")
const cacheFolder = () => process.env.BENCH_CACHE_DIR ?? path.join(root, "bench/.cache")

/** `{ version, commit }` of the last release. */
export const lastRelease = () => JSON.parse(fs.readFileSync(releaseFile, "utf8"))

const run = (folder, command, args, env = {}) =>
  execFileSync(command, args, { cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] })

const isKnown = (commit) => {
  try {
    run(root, "git", ["cat-file", "-e", `${commit}^{commit}`])
    return true
  } catch {
    return false
  }
}

/** The packages of this checkout serve the release as well where both lists of packages are the same; otherwise it gets its own. */
const install = (folder) => {
  const lockOf = (from) => fs.readFileSync(path.join(from, "package-lock.json"), "utf8")
  if (lockOf(folder) === lockOf(root))
    fs.symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"))
  else run(folder, "npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts=false", "--prefer-offline"])
}

/** Writes the program of a checkout anew, with source maps: then a profile can say which part a function belongs to. */
export const buildWithMaps = (folder) => run(folder, process.execPath, ["bin/build.mjs"], { GATEWAY_SOURCEMAP: "1" })

/** The folder of the release, built. */
export const releaseBuild = (say) => {
  const { commit, version } = lastRelease()
  const folder = path.join(cacheFolder(), "release", commit)
  if (fs.existsSync(path.join(folder, "dist/main.cjs"))) return folder
  if (!isKnown(commit))
    throw new Error(
      `the commit ${commit} of ${version} is not in this clone: fetch it, or name a built checkout with --against`
    )
  say(`Building ${version} (${commit.slice(0, 10)}), to compare with`)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  const archive = path.join(folder, "release.tar")
  run(root, "git", ["archive", "--output", archive, commit])
  run(folder, "tar", ["-xf", archive])
  fs.rmSync(archive)
  install(folder)
  // An installation of its own has built it.
  if (!fs.existsSync(path.join(folder, "dist/main.cjs"))) run(folder, process.execPath, ["bin/build.mjs"])
  return folder
}
