/** What gateways tell each other over Valkey: once each, encrypted, and over the database while Valkey is lost, flushed, slow, dumb or of another password. */
import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Timers from "../../../src/platform/Timers.ts"
import { valkeyAddressOf } from "../../../src/platform/ValkeyAddress.ts"
import * as NodeReplica from "../../../src/plane/workers/NodeReplica.ts"
import * as ValkeyTelling from "../../../src/plane/workers/ValkeyTelling.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import { connect } from "../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"
import {
  isValkeyThere,
  lateWay,
  mayUseValkey,
  noUseOfValkey,
  noValkey,
  valkeyServer,
  valkeyUrl
} from "../../support/valkey/Server.ts"

const url = await postgresUrl()
const isThere = url !== null && isValkeyThere
const missing = url === null ? noPostgres : isValkeyThere ? "" : noValkey

const until = (is: () => boolean) => Effect.repeat(Effect.sleep("10 millis"), { until: is })

/** A database, and gateways on it that tell each other over a server. */
const world = Effect.gen(function* () {
  const options = yield* emptySchema(url ?? "")
  const sql = yield* open(options)
  const start = (name: string, valkey: string, key = "told") =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const address = valkeyAddressOf(Redacted.make(valkey))
      assert.isNotNull(address)
      const secrets = yield* Effect.provide(Secrets.Secrets, Secrets.layerTest)
      const reach = ValkeyTelling.unasked(address)
      let isReached = () => false
      const replica = yield* NodeReplica.make(name, (heard) =>
        Effect.tap(ValkeyTelling.open({ address, key, node: name, reach, secrets }, heard), (channel) =>
          Effect.sync(() => {
            isReached = channel.isReached
          })
        )
      ).pipe(
        Effect.provideService(SqlClient.SqlClient, yield* Scope.extend(connect(options), scope)),
        Effect.provide(Layer.merge(Timers.layer, Secrets.layerTest)),
        Scope.extend(scope)
      )
      const counted: Array<unknown> = []
      const count = replica.functions.shared("count", (what: unknown) => void counted.push(what))
      const kept: Array<string> = []
      const keep = replica.functions.kept(
        "words",
        (words: string) => void kept.push(words),
        (words) => words.length
      )
      const end = Scope.close(scope, Exit.void)
      return { count, counted, end, hear: replica.hear, isReached: () => isReached(), keep, kept, reach, replica }
    })
  const rows = Effect.map(sql<{ readonly content: string }>`SELECT content FROM cluster_told`, (all) => all.length)
  const untilRow = Effect.repeat(Effect.zipRight(Effect.sleep("10 millis"), rows), { until: (count) => count > 0 })
  return { rows, start, untilRow }
})

const mayUse = url !== null && mayUseValkey
const missingUse = url === null ? noPostgres : mayUseValkey ? "" : noUseOfValkey

describe.skipIf(!mayUse)(`what gateways tell each other over a server that is there${missingUse}`, () => {
  it.scopedLive("arrives, and is counted where it was told and where it was heard", () =>
    Effect.gen(function* () {
      const at = yield* Effect.promise(valkeyUrl)
      const { rows, start } = yield* world
      const key = `told-${process.pid}-${yield* Effect.clockWith((clock) => clock.currentTimeNanos)}`
      const [one, two] = [yield* start("one", at, key), yield* start("two", at, key)]
      yield* until(() => one.isReached() && two.isReached())
      for (const what of ["a", "b"]) {
        one.count(what)
        yield* until(() => two.counted.includes(what))
      }
      assert.deepStrictEqual([one.reach.told, one.reach.heard, one.reach.lagMs], [2, 0, null])
      assert.deepStrictEqual([two.reach.told, two.reach.heard, two.reach.overDatabase], [0, 2, 0])
      assert.isAtLeast(two.reach.lagMs ?? -1, 0)
      assert.strictEqual(yield* rows, 0)
      for (const each of [one, two]) yield* each.end
    })
  )
})

describe.skipIf(!isThere)(`what gateways tell each other over Valkey${missing}`, () => {
  it.scopedLive("is applied once at each of the others, encrypted, and gone after a while", () =>
    Effect.gen(function* () {
      const valkey = yield* Effect.promise(() => valkeyServer())
      const { rows, start } = yield* world
      const [one, two] = [yield* start("one", valkey.url), yield* start("two", valkey.url)]
      const other = yield* start("three", valkey.url, "told by gateways of another database")
      yield* until(() => one.isReached() && two.isReached() && other.isReached())
      one.count("a")
      one.keep("a thought of a model")
      two.count("b")
      yield* until(() => two.kept.length === 1 && two.counted.length === 2 && one.counted.length === 2)
      for (const each of [one, two]) yield* each.hear
      assert.sameDeepMembers(one.counted, ["a", "b"])
      assert.sameDeepMembers(two.counted, ["b", "a"])
      assert.deepStrictEqual(two.kept, ["a thought of a model"])
      assert.lengthOf(other.counted, 0)
      assert.strictEqual(yield* rows, 0)
      const stored = yield* Effect.promise(() => valkey.say("XRANGE told - +"))
      assert.include(stored, "enc:v1:")
      assert.notMatch(stored, /thought|count|words/)
      assert.match(yield* Effect.promise(() => valkey.say("PTTL told")), /^:\d+\r\n$/)
      // What is told at the end of a process is told before it.
      two.count("c")
      yield* two.end
      yield* until(() => one.counted.length === 3)
      for (const each of [one, other]) yield* each.end
    })
  )

  it.scopedLive("goes over the database while it is lost, and heals by itself", () =>
    Effect.gen(function* () {
      const valkey = yield* Effect.promise(() => valkeyServer())
      const { rows, start, untilRow } = yield* world
      const [one, two] = [yield* start("one", valkey.url), yield* start("two", valkey.url)]
      yield* until(() => one.isReached() && two.isReached())
      one.count("before")
      yield* until(() => two.counted.length === 1)
      yield* Effect.promise(valkey.kill)
      yield* until(() => one.reach.problem !== null && two.reach.problem !== null)
      one.count("meanwhile")
      yield* untilRow
      yield* two.hear
      assert.deepStrictEqual([one.reach.told, one.reach.overDatabase, one.replica.dropped()], [1, 1, 0])
      assert.deepStrictEqual(two.counted, ["before", "meanwhile"])
      assert.strictEqual(yield* rows, 1)
      // It comes back with nothing of what it had.
      yield* Effect.promise(valkey.start)
      yield* until(() => one.isReached() && two.isReached())
      assert.deepStrictEqual([one.reach.problem, two.reach.problem], [null, null])
      one.count("after")
      yield* until(() => two.counted.length === 3)
      // Flushed under them.
      assert.include(yield* Effect.promise(() => valkey.say("FLUSHALL")), "OK")
      one.count("after the flush")
      yield* until(() => two.counted.length === 4)
      yield* two.hear
      assert.deepStrictEqual(two.counted, ["before", "meanwhile", "after", "after the flush"])
      assert.strictEqual(yield* rows, 1)
      for (const each of [one, two]) yield* each.end
    })
  )

  it.scopedLive("waits for nothing where it is slow, and is told once where an answer is lost", () =>
    Effect.gen(function* () {
      const valkey = yield* Effect.promise(() => valkeyServer())
      const way = yield* Effect.promise(() => lateWay(valkey.port, 200))
      const { rows, start, untilRow } = yield* world
      const [one, two] = [
        yield* start("one", `redis://127.0.0.1:${way.port}`),
        yield* start("two", `redis://127.0.0.1:${way.port}`)
      ]
      yield* until(() => one.isReached() && two.isReached())
      one.count("late")
      // In force here at once, whatever becomes of it.
      assert.deepStrictEqual(one.counted, ["late"])
      yield* until(() => two.counted.length === 1)
      assert.strictEqual(yield* rows, 0)
      // It takes everything and answers nothing: after 2 s it counts as lost.
      way.swallow(true)
      one.count("swallowed")
      yield* untilRow
      yield* two.hear
      assert.deepStrictEqual(two.counted, ["late", "swallowed"])
      assert.match(one.reach.problem ?? "", /gives no answer within 2 s$/)
      way.swallow(false)
      yield* until(() => one.isReached() && two.isReached() && one.reach.problem === null)
      one.count("again")
      yield* until(() => two.counted.length === 3)
      assert.deepStrictEqual(two.counted, ["late", "swallowed", "again"])
      for (const each of [one, two]) yield* each.end
    })
  )

  it.scopedLive("goes over the database where the password is wrong, which is told without it", () =>
    Effect.gen(function* () {
      const valkey = yield* Effect.promise(() => valkeyServer("right-password"))
      const { start, untilRow } = yield* world
      const [right, wrong] = [
        yield* start("right", valkey.url),
        yield* start("wrong", valkey.url.replace("right-password", "wrong-password"))
      ]
      yield* until(() => right.isReached() && wrong.reach.problem !== null)
      assert.strictEqual(wrong.reach.problem, "it refuses the user and password of GATEWAY_VALKEY_URL")
      wrong.count("a")
      yield* untilRow
      yield* right.hear
      assert.deepStrictEqual(right.counted, ["a"])
      const none = yield* start("none", `redis://127.0.0.1:${valkey.port}`)
      yield* until(() => none.reach.problem !== null)
      assert.include(none.reach.problem ?? "", "NOAUTH")
      for (const each of [right, wrong, none]) yield* each.end
    })
  )

  it.scopedLive("is left out where another program has written it, or another gateway's number was put on it", () =>
    Effect.gen(function* () {
      const valkey = yield* Effect.promise(() => valkeyServer())
      const { start } = yield* world
      const [one, two] = [yield* start("one", valkey.url), yield* start("two", valkey.url)]
      yield* until(() => one.isReached() && two.isReached())
      one.count("a")
      yield* until(() => two.counted.length === 1)
      const stored = yield* Effect.promise(() => valkey.say("XRANGE told - +"))
      const [content = ""] = /enc:v1:\S+/.exec(stored) ?? []
      const [sent = ""] = /(?<=sent\r\n\$13\r\n)\d+/.exec(stored) ?? []
      assert.isNotEmpty(content)
      assert.isNotEmpty(sent)
      for (const line of [
        `XADD told * node one number 7 sent ${sent} content ${content}`,
        `XADD told * node four number 1 sent ${sent} content ${content}`,
        `XADD told * node one number 1 sent ${sent} content ${content}`,
        `XADD told * node one number 9 sent ${sent} content enc:v1:forged`,
        `XADD told * other fields`
      ]) {
        assert.match(yield* Effect.promise(() => valkey.say(line)), /^\$/)
      }
      one.count("b")
      yield* until(() => two.counted.includes("b"))
      assert.deepStrictEqual(two.counted, ["a", "b"])
      for (const each of [one, two]) yield* each.end
    })
  )
})
