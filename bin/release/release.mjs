/**
 * `npm run release -- --dry-run`: makes everything that a release is, from a clone of the commit, into a folder, and publishes nothing. It refuses
 * with the reasons when something is missing (checks.mjs). Without --dry-run it also writes the version into the checkout, to be committed and tagged.
 * docs/releasing.md has the steps.
 */
import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { apiDocument } from "./apiDocument.mjs"
import { fragmentsIn, kindsOfText, nextVersion, notesOf, unreleasedOf } from "./changelog.mjs"
import { checks, failedChecks } from "./checks.mjs"
import { contractOf } from "./contract.mjs"
import { formulaOf } from "./formula.mjs"
import { migrationHashes } from "./freeze.mjs"
import { licenceList } from "./licences.mjs"
import { materialsOf, provenanceOf } from "./materials.mjs"
import { keyOf, sha256, signFiles, throwawayKey } from "./sign.mjs"
import { pack } from "./stage.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const contractFile = "test/fixtures/released/contract.json"
const migrationsFile = "test/fixtures/released/migrations.json"

const git = (...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
const gitOr = (other, ...args) => {
  try {
    return git(...args)
  } catch {
    return other
  }
}
const jsonOf = (file) => JSON.parse(readFileSync(file, "utf8"))
const lines = (text) => text.split("\n").filter((line) => line !== "")

/** What the newest tag promised; null where there is none. */
const releasedFacts = () => {
  const tag = lines(gitOr("", "tag", "--list", "v*", "--sort=-v:refname", "--merged", "HEAD"))[0]
  if (tag === undefined) return null
  const fileAt = (file) => JSON.parse(gitOr("null", "show", `${tag}:${file}`))
  return { version: tag.slice(1), contract: fileAt(contractFile), migrations: fileAt(migrationsFile) }
}

const factsOf = async (options) => {
  const manifest = jsonOf(join(root, "package.json"))
  const fragments = fragmentsIn(root)
  const unreleased = unreleasedOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"))
  const kinds = [...fragments.flatMap(({ kind }) => (kind === undefined ? [] : [kind])), ...kindsOfText(unreleased)]
  const released = releasedFacts()
  // The first release has the version that the checkout has.
  const raised = nextVersion(manifest.version, kinds)
  const version = released === null && raised !== null ? manifest.version : raised
  const history = join(root, "bench/history.jsonl")
  const migrations = migrationHashes(root)
  return {
    manifest,
    fragments,
    unreleased,
    version,
    current: manifest.version,
    released:
      released === null
        ? null
        : { ...released, saysSo: kinds.some((kind) => kind === "breaking" || kind === "removed") },
    changedFiles: lines(gitOr("", "status", "--porcelain")).map((line) => line.slice(3)),
    takenTags: lines(gitOr("", "tag", "--list", "v*")),
    document: contractOf(await apiDocument()),
    migrations,
    schemaHashes: jsonOf(join(root, "test/fixtures/schemas.json")),
    schemaVersion: Number.parseInt(Object.keys(migrations).at(-1) ?? "0", 10),
    benchLines: existsSync(history) ? lines(readFileSync(history, "utf8")).map((line) => JSON.parse(line)) : [],
    hasKey: options.key !== undefined,
    contact: options["security-contact"] ?? null,
    isDryRun: options["dry-run"]
  }
}

/** Writes the version where it stands, in a folder that is the checkout or a clone of it. */
const writeVersion = (folder, facts, notes) => {
  for (const name of ["package.json", "package-lock.json"]) {
    const json = jsonOf(join(folder, name))
    json.version = facts.version
    if (json.packages !== undefined) json.packages[""].version = facts.version
    writeFileSync(join(folder, name), `${JSON.stringify(json, null, 2)}\n`)
  }
  const changelog = readFileSync(join(folder, "CHANGELOG.md"), "utf8")
  const [before, after] = changelog.split("## Unreleased\n")
  const older = (after ?? "")
    .split(/^(?=## )/m)
    .slice(1)
    .join("")
  writeFileSync(join(folder, "CHANGELOG.md"), `${before}## Unreleased\n\n${notes}\n${older}`)
  for (const { name } of facts.fragments) rmSync(join(folder, "changelog", name))
  const manual = join(folder, "docs/reference/gateway.1")
  const text = readFileSync(manual, "utf8")
  writeFileSync(manual, text.replace(/"gateway \d+\.\d+\.\d+[^"]*"/, `"gateway ${facts.version}"`))
  const chart = join(folder, "docs/helm/gateway/Chart.yaml")
  const ofChart = readFileSync(chart, "utf8").replace(/^version: .*$/m, `version: ${facts.version}`)
  writeFileSync(chart, ofChart.replace(/^appVersion: .*$/m, `appVersion: "${facts.version}"`))
  mkdirSync(dirname(join(folder, contractFile)), { recursive: true })
  writeFileSync(join(folder, contractFile), `${JSON.stringify(facts.document)}\n`)
  writeFileSync(join(folder, migrationsFile), `${JSON.stringify(facts.migrations, null, 2)}\n`)
}

/** Builds and packs a clone of the commit with the new version, so that nothing of the checkout that is not committed comes along. */
const packed = (facts, notes, out) => {
  const scratch = mkdtempSync(join(tmpdir(), "gateway-release-"))
  const clone = join(scratch, "gateway")
  try {
    execFileSync("git", ["clone", "--quiet", "--shared", root, clone])
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"))
    writeVersion(clone, { ...facts, fragments: fragmentsIn(clone) }, notes)
    execFileSync(process.execPath, [join(clone, "bin/build.mjs")], {
      cwd: clone,
      stdio: ["ignore", "ignore", "inherit"]
    })
    const { filename } = pack(clone, out)
    copyFileSync(join(clone, "dist/THIRD-PARTY-NOTICES.txt"), join(out, "THIRD-PARTY-NOTICES.txt"))
    return { filename, packages: jsonOf(join(clone, "dist/packages.json")) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Packages that npm puts beside the program. */
const installedOf = ({ dependencies, optionalDependencies }) =>
  Object.entries({ ...dependencies, ...optionalDependencies }).map(([name, version]) => ({
    name,
    version,
    license: jsonOf(join(root, "node_modules", name, "package.json")).license,
    optional: name in (optionalDependencies ?? {})
  }))

const writeRelease = (facts, options, out) => {
  const started = new Date().toISOString()
  const { manifest, version } = facts
  const notes = notesOf(version, started.slice(0, 10), facts.fragments, facts.unreleased)
  const write = (name, content) => writeFileSync(join(out, name), content)
  const { filename, packages } = packed(facts, notes, out)
  const problems = checks.licences({ packages: [...packages, ...installedOf(manifest)] })
  if (problems.length > 0) return { problems, notes }
  const own = { name: manifest.name, version, description: manifest.description, licence: manifest.license }
  write("NOTES.md", notes)
  const formula = `${manifest.name}.rb`
  const packedHash = sha256(readFileSync(join(out, filename)))
  write(formula, formulaOf({ ...own, filename, sha256: packedHash, repository: options.repository }))
  write("sbom.cdx.json", `${materialsOf({ ...own, bundled: packages, installed: installedOf(manifest) })}\n`)
  write("LICENCES.txt", licenceList([...packages, ...installedOf(manifest)]))
  write("openapi.json", `${JSON.stringify(facts.document)}\n`)
  write(
    "schema.json",
    `${JSON.stringify({ version: facts.schemaVersion, sql: sha256(readFileSync(join(root, "test/fixtures/schema.sql"))), migrations: facts.migrations }, null, 2)}\n`
  )
  write(
    "SECURITY.md",
    readFileSync(join(root, "SECURITY.md"), "utf8").replaceAll(
      "{{SECURITY_CONTACT}}",
      facts.contact ?? "{{SECURITY_CONTACT}}"
    )
  )
  write(
    "RELEASE.json",
    `${JSON.stringify({ version, commit: git("rev-parse", "HEAD"), dryRun: facts.isDryRun, waived: options.waive, signedWith: facts.hasKey ? "the release key" : "a throwaway key" }, null, 2)}\n`
  )
  const names = [
    filename,
    "LICENCES.txt",
    "NOTES.md",
    "RELEASE.json",
    "SECURITY.md",
    "THIRD-PARTY-NOTICES.txt",
    formula,
    "openapi.json",
    "sbom.cdx.json",
    "schema.json"
  ]
  const files = names.map((name) => ({ name, sha256: sha256(readFileSync(join(out, name))) }))
  const statement = provenanceOf({
    version,
    files,
    commit: git("rev-parse", "HEAD"),
    lockHash: sha256(readFileSync(join(root, "package-lock.json"))),
    repository: options.repository,
    at: { started, finished: new Date().toISOString() }
  })
  write("provenance.json", `${JSON.stringify(statement, null, 2)}\n`)
  signFiles(out, [...names, "provenance.json"], facts.hasKey ? keyOf(options.key) : throwawayKey())
  return { problems: [], notes }
}

const main = async () => {
  const { values: options } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      key: { type: "string" },
      out: { type: "string", default: join(root, ".gateway/release") },
      repository: { type: "string", default: "https://example.com/gateway" },
      "security-contact": { type: "string" },
      waive: { type: "string", multiple: true, default: [] }
    }
  })
  const out = resolve(options.out)
  const facts = await factsOf(options)
  const refused = failedChecks({ ...facts, packages: [] }, options.waive)
  const say = (text) => process.stdout.write(`${text}\n`)
  if (refused.length > 0) {
    say("Refused. A release needs:")
    for (const { name, problems } of refused) for (const problem of problems) say(`  ${name}: ${problem}`)
    process.exitCode = 1
    return
  }
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const { notes, problems } = writeRelease(facts, options, out)
  if (problems.length > 0) {
    say(`Refused. A release needs:\n${problems.map((problem) => `  licences: ${problem}`).join("\n")}`)
    process.exitCode = 1
    return
  }
  if (!facts.isDryRun) writeVersion(root, facts, notes)
  say(`${facts.isDryRun ? "Dry run of" : "Made"} ${facts.version} in ${out}. Nothing was published.`)
  if (!facts.isDryRun) say(`Next: commit, tag v${facts.version}, push, publish the package (docs/releasing.md).`)
}

await main()
