/** A dry run of a release into a folder, and each of its files as another program sees it. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import addFormats from "ajv-formats"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll } from "vitest"
import * as Redocly from "../support/Redocly.ts"

const require = createRequire(import.meta.url)
// It has no types.
const addDraft: (validator: Ajv) => unknown = require("ajv-formats-draft2019")
const running = promisify(execFile)
const root = new URL("../..", import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), "gateway-release-"))
const out = join(folder, "release")
const key = join(folder, "key.pem")

/** Runs a program in a folder to its end, whatever that is. */
const attempted = (cwd: string, program: string, ...args: ReadonlyArray<string>) =>
  running(program, args, { cwd, maxBuffer: 64_000_000 }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
      code: error.code,
      said: `${error.stdout}${error.stderr}`
    })
  )

const release = (...args: ReadonlyArray<string>) =>
  attempted(root, process.execPath, "bin/release/release.mjs", "--dry-run", "--out", out, ...args)

const read = (name: string): string => readFileSync(join(out, name), "utf8")
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string }
const tarball = `onegateway-${version}.tgz`

/** Homebrew is written in it, and so are its formulas. */
const hasRuby = spawnSync("ruby", ["--version"]).status === 0

/** Runs a program in the release's folder; its end with another code than 0 fails the test. */
const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { cwd: out, encoding: "utf8" })

describe("a dry run of a release", () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  beforeAll(async () => {
    execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key])
    const contact = ["--security-contact", "security@example.com"]
    const { code, said } = await release("--waive", "bench", "--waive", "commit", "--key", key, ...contact)
    assert.strictEqual(code, 0, said)
    assert.include(said, "Nothing was published.")
  }, 240_000)

  it("is refused where the bench has no figures, and leaves no files then", async () => {
    const other = join(folder, "other")
    const { code, said } = await release("--out", other, "--waive", "commit")
    assert.strictEqual(code, 1)
    assert.include(said, "bench: The bench has no figures of this version")
    assert.notInclude(readdirSync(folder), "other")
  })

  it("has its files in SHA256SUMS, as sha256sum finds, and no others but the signature", () => {
    assert.match(run("sha256sum", "--check", "--strict", "SHA256SUMS"), new RegExp(`^${tarball}: OK$`, "m"))
    const summed = read("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => line.split("  ")[1] ?? "")
    assert.sameMembers([...summed, "SHA256SUMS", "SHA256SUMS.sig", "release.pub.pem"], readdirSync(out))
  })

  it("is signed with the key, as openssl finds, which refuses another text", () => {
    const verify = [
      "pkeyutl",
      "-verify",
      "-pubin",
      "-inkey",
      "release.pub.pem",
      "-rawin",
      "-sigfile",
      "SHA256SUMS.sig",
      "-in"
    ]
    assert.include(run("openssl", ...verify, "SHA256SUMS"), "Signature Verified Successfully")
    assert.strictEqual(run("openssl", "pkey", "-in", key, "-pubout"), read("release.pub.pem"))
    const forged = join(folder, "forged")
    writeFileSync(forged, `${read("SHA256SUMS")}\n`)
    assert.throws(() => run("openssl", ...verify, forged))
  })

  it("has a package that tar lists, with the version, and without code of one Node", () => {
    const paths = run("tar", "--list", "--gzip", "--file", tarball).trim().split("\n")
    assert.include(paths, "package/dist/program.cjs")
    assert.notMatch(paths.join("\n"), /\.v8$/m)
    const manifest = JSON.parse(
      run("tar", "--extract", "--gzip", "--to-stdout", "--file", tarball, "package/package.json")
    )
    assert.strictEqual(manifest.version, version)
  })

  it("has a list of materials that is valid by the schema of CycloneDX, with every package of the program", () => {
    const schemas = join(dirname(require.resolve("@cyclonedx/cyclonedx-library/package.json")), "res/schema")
    const schema = (name: string): object => JSON.parse(readFileSync(join(schemas, name), "utf8"))
    const ajv = new Ajv({ strict: false, validateFormats: true, addUsedSchema: false })
    addFormats.default(ajv)
    addDraft(ajv)
    for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
      const one = schema(`${name}.SNAPSHOT.schema.json`)
      ajv.addSchema(one, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    }
    const validate = ajv.compile(schema("bom-1.6.SNAPSHOT.schema.json"))
    const list = JSON.parse(read("sbom.cdx.json"))
    assert.isTrue(validate(list), JSON.stringify(validate.errors?.slice(0, 3)))
    assert.isFalse(validate({ ...list, components: [{ name: "without a type" }] }))
    const names = list.components.map((one: { readonly group?: string; readonly name: string }) => one.name)
    assert.includeMembers(names, ["effect", "undici", "preact", "@node-rs/argon2"])
  })

  it("says of each package under which licence it is used", () => {
    assert.match(read("LICENCES.txt"), /^node-forge \S+: BSD-3-Clause \(of \(BSD-3-Clause OR GPL-2\.0\)\)$/m)
    assert.notInclude(read("LICENCES.txt"), "not settled")
    for (const name of ["effect", "preact"])
      assert.match(read("THIRD-PARTY-NOTICES.txt"), new RegExp(`^${name} \\d`, "m"))
  })

  it("has a contract that another program reads, a schema's hash and a statement about each file", async () => {
    const { stdout } = await Redocly.run(out, ["stats", "openapi.json", "--format", "json"])
    assert.match(stdout, /"operations"/)
    assert.match(JSON.parse(read("schema.json")).sql, /^[0-9a-f]{64}$/)
    assert.include(run("sha256sum", join(root, "test/fixtures/schema.sql")), JSON.parse(read("schema.json")).sql)
    const { predicate, subject } = JSON.parse(read("provenance.json"))
    const sums = subject.map(
      (one: { readonly name: string; readonly digest: { readonly sha256: string } }) =>
        `${one.digest.sha256}  ${one.name}\n`
    )
    writeFileSync(join(folder, "sums"), sums.join(""))
    run("sha256sum", "--check", "--strict", join(folder, "sums"))
    const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim()
    assert.strictEqual(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, head)
    assert.include(read("SECURITY.md"), "security@example.com")
    assert.match(read("NOTES.md"), /^## \d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)\n/)
  })

  it.skipIf(!hasRuby)(
    "has a formula that installs the package, is tested and describes a service",
    () => {
      const unpacked = join(folder, "unpacked")
      mkdirSync(unpacked)
      run("tar", "--extract", "--gzip", "--file", tarball, "--directory", unpacked)
      const cellar = join(folder, "cellar")
      const harness = join(root, "test/install/formula.rb")
      const described = JSON.parse(run("ruby", harness, "onegateway.rb", join(unpacked, "package"), cellar))
      assert.strictEqual(described.version, version)
      assert.isAtMost(described.desc.length, 80)
      assert.include(run("sha256sum", tarball), described.sha256)
      assert.isTrue(described.url.endsWith(`/v${version}/${tarball}`), described.url)
      assert.deepStrictEqual(described.service.run, [join(cellar, "bin/gateway"), "serve"])
      assert.include(readFileSync(join(cellar, "share/man/man1/gateway.1"), "utf8"), `gateway ${version}`)
    },
    120_000
  )
})

describe("a branch from a released version", () => {
  const scratch = mkdtempSync(join(tmpdir(), "gateway-scratch-"))
  const clone = join(scratch, "gateway")
  const git = (...args: ReadonlyArray<string>): string =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], {
      cwd: clone,
      encoding: "utf8"
    })
  const commit = (subject: string): void => {
    git("add", "--all")
    git("commit", "--quiet", "--message", subject)
  }
  /** As CI runs it. */
  const test = () =>
    attempted(
      clone,
      process.execPath,
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/vitest.config.ts",
      "test/unit/release/contract.test.ts"
    )
  const edited = (file: string, edit: (text: string) => string): void => {
    const before = readFileSync(join(clone, file), "utf8")
    assert.notStrictEqual(edit(before), before)
    writeFileSync(join(clone, file), edit(before))
  }

  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  beforeAll(async () => {
    execFileSync("git", ["clone", "--quiet", "--shared", root, clone])
    symlinkSync(join(root, "node_modules"), join(clone, "node_modules"))
    const secret = join(scratch, "key.pem")
    execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", secret])
    const args = ["--waive", "bench", "--waive", "commit", "--key", secret, "--out", join(scratch, "release")]
    const contact = ["--security-contact", "security@example.com"]
    const made = await attempted(clone, process.execPath, "bin/release/release.mjs", ...args, ...contact)
    assert.strictEqual(made.code, 0, made.said)
    commit("Release")
    git("tag", `v${version}`)
    git("checkout", "--quiet", "-b", "scratch")
  }, 300_000)

  it("is taken while it only adds to the contract", async () => {
    edited("src/subjects/webhooks/routes.ts", (text) =>
      text.replace(
        "  latencyMs: field(",
        '  waitedMs: field(Schema.Number, "Milliseconds it waited.", 1),\n  latencyMs: field('
      )
    )
    const { code, said } = await test()
    assert.strictEqual(code, 0, said)
    git("checkout", "--quiet", ".")
  }, 120_000)

  it("is refused by CI and by the release when a client of that version breaks", async () => {
    edited("src/subjects/webhooks/routes.ts", (text) => text.replace(/^ {2}latencyMs: field\(.*\n/m, ""))
    writeFileSync(join(clone, "changelog/deliveries.changed.md"), "Deliveries tell their time once.\n")
    commit("Tell the time of a delivery once")
    const byTest = await test()
    assert.strictEqual(byTest.code, 1)
    assert.match(byTest.said, /GET \/api\/webhooks\/\S+: .*latencyMs/)
    const { code, said } = await attempted(clone, process.execPath, "bin/release/release.mjs", "--dry-run")
    assert.strictEqual(code, 1)
    assert.match(said, new RegExp(`contract: A client of ${version} breaks\\. .*latencyMs`))
  }, 120_000)
})
