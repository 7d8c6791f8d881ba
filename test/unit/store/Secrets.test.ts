import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describeStoreFailure } from "../../../src/store/Errors.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../src/subjects/nodes/repo.ts"
import { resetSecrets } from "../../../src/store/secrets/ResetSecrets.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import { bareConnection, connection, node, onDisk, reposInMemory, temporaryFolder } from "./fixtures.ts"

const secretsOf = (byte: number) => Secrets.fromMasterKey(Redacted.make(new Uint8Array(32).fill(byte)))
const place = { table: "connections", column: "api_key", rowId: "c1" }
const reasonOf = (result: Either.Either<unknown, Secrets.SecretUnreadable>) =>
  Either.isLeft(result) ? result.left.reason : "readable"

describe("cipher", () => {
  const secrets = secretsOf(1)
  const text = secrets.encrypt(place, Redacted.make("sk-42 ü"))

  it("opens what it sealed, with a fresh nonce each time", () => {
    assert.match(text, /^enc:v1:[0-9a-f]{8}:[\w-]{16}:[\w-]{22}:[\w-]+$/)
    assert.strictEqual(Redacted.value(Either.getOrThrow(secrets.decrypt(place, text))), "sk-42 ü")
    assert.notStrictEqual(secrets.encrypt(place, Redacted.make("sk-42 ü")), text)
    assert.notInclude(text, Buffer.from("sk-42").toString("base64url"))
  })

  it("refuses a ciphertext in another row, column or table", () => {
    for (const elsewhere of [{ rowId: "c2" }, { column: "oauth" }, { table: "provider_nodes" }]) {
      assert.strictEqual(reasonOf(secrets.decrypt({ ...place, ...elsewhere }, text)), "altered")
    }
  })

  it("refuses another key, altered text and a shortened tag", () => {
    assert.strictEqual(reasonOf(secretsOf(2).decrypt(place, text)), "other key")
    const parts = text.split(":")
    const changed = (at: number, value: string) => parts.map((part, index) => (index === at ? value : part)).join(":")
    assert.strictEqual(reasonOf(secrets.decrypt(place, changed(5, "AAAA"))), "altered")
    assert.strictEqual(reasonOf(secrets.decrypt(place, changed(4, parts[4]!.slice(0, 6)))), "malformed")
    assert.strictEqual(reasonOf(secrets.decrypt(place, "sk-plain")), "malformed")
  })

  it("gives each purpose its own key", () => {
    const key = (purpose: string) => Buffer.from(Redacted.value(secrets.subKey(purpose))).toString("hex")
    assert.strictEqual(key("csrf"), key("csrf"))
    assert.notStrictEqual(key("csrf"), key("other"))
    assert.lengthOf(key("csrf"), 64)
  })
})

describe("master key", () => {
  const start = (dataDir: string, key: string | null) =>
    Effect.scoped(Layer.build(Secrets.layer.pipe(Layer.provide(onDisk(dataDir, key)))))

  it.scoped("is made once, with mode 0600, and found again", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const file = join(dataDir, "master.key")
      yield* start(dataDir, null)
      const made = readFileSync(file, "utf8")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      chmodSync(file, 0o644)
      yield* start(dataDir, null)
      assert.strictEqual(readFileSync(file, "utf8"), made)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    })
  )

  it.scoped("that is wrong, missing or malformed is detected at start and nothing is written", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const file = join(dataDir, "master.key")
      yield* start(dataDir, null)

      const fromEnvironment = yield* Effect.flip(start(dataDir, "something else"))
      assert.strictEqual(fromEnvironment._tag, "WrongKey")
      assert.include(describeStoreFailure(fromEnvironment), "GATEWAY_ENCRYPTION_KEY")
      assert.include(describeStoreFailure(fromEnvironment), "gateway reset-encrypted-columns")
      assert.notInclude(describeStoreFailure(fromEnvironment), "something else")

      const keep = readFileSync(file)
      rmSync(file)
      const missing = yield* Effect.flip(start(dataDir, null))
      assert.include(describeStoreFailure(missing), `${file} is missing`)
      assert.isFalse(existsSync(file))

      writeFileSync(file, "short\n", { mode: 0o600 })
      assert.include(describeStoreFailure(yield* Effect.flip(start(dataDir, null))), "does not hold a key")
      writeFileSync(file, `${Buffer.alloc(32, 9).toString("base64url")}\n`)
      assert.include(describeStoreFailure(yield* Effect.flip(start(dataDir, null))), `${file} is not the key`)

      writeFileSync(file, keep)
      yield* start(dataDir, null)
    })
  )

  it.scoped("of a person's choice is stretched; a database from before opens as it was written", () =>
    Effect.gen(function* () {
      const chosen = "a key that can be guessed"
      const rows = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ key: string; value: string }>`SELECT key, value FROM meta WHERE key LIKE 'encryption%'`
      })
      const metaOf = (dataDir: string) => Effect.provide(rows, onDisk(dataDir, chosen))
      const plain = Secrets.fromMasterKey(Redacted.make(Buffer.from(chosen)))
      const canary = { table: "meta", column: "value", rowId: Secrets.canaryRow }

      const dataDir = yield* temporaryFolder
      yield* start(dataDir, chosen)
      const made = new Map((yield* metaOf(dataDir)).map(({ key, value }) => [key, value]))
      assert.match(made.get(Secrets.stretchingRow) ?? "", /^scrypt:15:8:3:/)
      assert.strictEqual(reasonOf(plain.decrypt(canary, made.get(Secrets.canaryRow) ?? "")), "other key")
      yield* start(dataDir, chosen)
      assert.strictEqual((yield* Effect.flip(start(dataDir, "another guess")))._tag, "WrongKey")

      const old = yield* temporaryFolder
      const text = plain.encrypt(canary, Redacted.make("gateway"))
      yield* Effect.provide(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO meta ${sql.insert({ key: Secrets.canaryRow, value: text })}`
        ),
        onDisk(old, chosen)
      )
      const opened = yield* Effect.provide(Secrets.Secrets, Secrets.layer.pipe(Layer.provide(onDisk(old, chosen))))
      assert.strictEqual(reasonOf(opened.decrypt(canary, text)), "readable")
    })
  )

  it.scoped("that is lost can be replaced by dropping the credentials only", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const repos = (key: string) =>
        Repos.layer.pipe(Layer.provide(Secrets.layer), Layer.provideMerge(onDisk(dataDir, key)))
      const save = Effect.gen(function* () {
        yield* (yield* ConnectionRepo).insert(connection)
        yield* (yield* ConnectionRepo).insert(bareConnection)
        yield* (yield* NodeRepo).insert(node)
      })
      yield* Effect.provide(save, repos("old"))
      assert.strictEqual(yield* Effect.provide(resetSecrets, onDisk(dataDir)), 2)
      const stored = yield* Effect.provide(
        Effect.flatMap(ConnectionRepo, (repo) => repo.get("c1")),
        repos("new")
      )
      assert.deepStrictEqual(stored, { ...connection, apiKey: null, oauth: null, headers: null, locked: false })
    })
  )
})

describe("data folder", () => {
  it.scoped("is for its owner alone, and so is the lock; a folder shared by all is refused", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const modeOf = (path: string) => statSync(path).mode & 0o7777
      const open = Effect.scoped(Layer.build(onDisk(dataDir)))
      chmodSync(dataDir, 0o777)
      yield* open
      assert.strictEqual(modeOf(dataDir), 0o700)
      for (const name of ["gateway.lock", "gateway.sqlite"])
        assert.strictEqual(modeOf(join(dataDir, name)), 0o600, name)
      chmodSync(join(dataDir, "gateway.lock"), 0o644)
      yield* open
      assert.strictEqual(modeOf(join(dataDir, "gateway.lock")), 0o600)

      chmodSync(dataDir, 0o1777)
      const refused = yield* Effect.flip(open)
      assert.include(describeStoreFailure(refused), "every user of this machine can write")
      assert.strictEqual(modeOf(dataDir), 0o1777)
      chmodSync(dataDir, 0o700)
    })
  )
})

describe("stored secrets", () => {
  it.effect("are not in the table as text", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* (yield* ConnectionRepo).insert(connection)
      yield* (yield* NodeRepo).insert(node)
      const dump = JSON.stringify([yield* sql`SELECT * FROM connections`, yield* sql`SELECT * FROM provider_nodes`])
      for (const secret of ["sk-live", "access", "refresh", "client secret", "s3cret", "token"]) {
        assert.notInclude(dump.replaceAll("https://auth.example/token", ""), `"${secret}`)
        assert.notInclude(dump, `\\"${secret}`)
      }
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("moved to another row lock it, and saving the row does not overwrite them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* ConnectionRepo
      yield* repo.insert(connection)
      yield* repo.insert(bareConnection)
      yield* sql`UPDATE connections SET api_key = (SELECT api_key FROM connections WHERE id = 'c1') WHERE id = 'c2'`

      const locked = yield* repo.get("c2")
      assert.deepStrictEqual(locked, { ...bareConnection, locked: true })
      const cipher = sql<{ apiKey: string }>`SELECT api_key FROM connections WHERE id = 'c2'`
      const before = yield* cipher
      yield* repo.update({ ...bareConnection, name: "renamed" })
      assert.deepStrictEqual(yield* cipher, before)
      assert.strictEqual((yield* repo.get("c2"))?.name, "renamed")

      const unlocked = { ...bareConnection, apiKey: Redacted.make("new") }
      yield* repo.update(unlocked)
      assert.deepStrictEqual(yield* repo.get("c2"), { ...unlocked, locked: false })
    }).pipe(Effect.provide(reposInMemory))
  )
})
