/** The commands about keys, against a running gateway: every setting, another secret, and removals that say what they need. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { keyScopes } from "../../src/subjects/keys/entity.ts"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-keys-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const asked = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* TestApp
  return yield* typed([...words.split(" "), "--url", url, "--gateway-key", adminKey], null)
})

const settings =
  "--block-model *preview* --endpoint chat --endpoint models --combo fast* --only-connection c1 --ip 10.0.0.0/8 " +
  "--per-day 100 --per-minute 10 --max-sessions 2 --schedule 1-5,0@22:00-06:00@Europe/Zurich --no-log on"

const told = {
  blockedModels: ["*preview*"],
  allowedEndpoints: ["chat", "models"],
  allowedCombos: ["fast*"],
  allowedConnections: ["c1"],
  ipAllowlist: ["10.0.0.0/8"],
  maxRequestsPerDay: 100,
  maxRequestsPerMinute: 10,
  maxSessions: 2,
  accessSchedule: { enabled: true, from: "22:00", until: "06:00", days: [0, 1, 2, 3, 4, 5], tz: "Europe/Zurich" },
  noLog: true
}

layer(layerOf(), { excludeTestServices: true })("gateway key", (it) => {
  it.effect("takes every scope there is, with a line for each in its help", () =>
    Effect.gen(function* () {
      const help = yield* typed(["help", "key", "add"], null)
      for (const scope of keyScopes) assert.match(help.stdout, new RegExp(`^  ${scope} +\\S.{5,}$`, "m"), scope)
      const made = yield* asked(`key add every ${keyScopes.map((scope) => `--scope ${scope}`).join(" ")} --json`)
      assert.sameMembers(JSON.parse(made.stdout).key.scopes, [...keyScopes])
      const wrong = yield* asked("key add wrong --scope read:model")
      assert.match(wrong.stderr, /such as 'read:models'/)
    })
  )

  it.effect("add and edit take every setting, show tells them, and edit clears them", () =>
    Effect.gen(function* () {
      const added = yield* asked(`key add office ${settings} --json`)
      assert.strictEqual(added.code, 0, added.stderr)
      assert.deepInclude(JSON.parse(added.stdout).key, told)
      assert.strictEqual((yield* asked("keys add plain")).code, 0)
      const edited = yield* asked(`keys update plain ${settings} --json`)
      assert.strictEqual(edited.code, 0, edited.stderr)
      assert.deepInclude(JSON.parse(edited.stdout).key, told)
      const { stdout } = yield* asked("key show office")
      for (const text of [
        "*preview*",
        "chat, models",
        "10.0.0.0/8",
        "Sun Mon Tue Wed Thu Fri 22:00-06:00 Europe/Zurich"
      ]) {
        assert.include(stdout, text)
      }
      const cleared = yield* asked(
        "key edit plain --ip all --endpoint all --schedule none --per-day 0 --no-log off --json"
      )
      const none = { ipAllowlist: [], allowedEndpoints: [], accessSchedule: null, maxRequestsPerDay: 0, noLog: false }
      assert.deepInclude(JSON.parse(cleared.stdout).key, { ...told, ...none })
    })
  )

  it.effect("says which flag is wrong", () =>
    Effect.gen(function* () {
      for (const [words, flag] of [
        ["--ip 10.0.0.0/40", "--ip"],
        ["--endpoint chats", "--endpoint"],
        ["--schedule always", "--schedule"],
        ["--schedule 1@08:00-18:00@Mars/Olympus", "--schedule"],
        ["--schedule 1@08:00-25:00@UTC", "--schedule"],
        ["--per-day -1", "--per-day"]
      ] as const) {
        const { code, stderr } = yield* asked(`key add wrong ${words}`)
        assert.deepStrictEqual([code, stderr.includes(flag)], [2, true], `${words}: ${stderr}`)
      }
    })
  )

  it.effect("rotate prints the new secret alone on stdout", () =>
    Effect.gen(function* () {
      yield* asked("key add turning")
      const { code, stderr, stdout } = yield* asked("key rotate turning --overlap 60")
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^gw_\w+\n?$/)
      assert.include(stderr, "works for 60 s more")
      const app = yield* TestApp
      const headers = { authorization: `Bearer ${stdout.trim()}` }
      // Known, and without the scope.
      assert.strictEqual((yield* app.call("/api/keys", { headers })).status, 403)
      assert.strictEqual((yield* asked("key rotate turning --overlap -5")).code, 2)
      assert.strictEqual((yield* asked("key remove turning --yes")).code, 0)
    })
  )

  it.effect("settings that have routes of their own are shown and set", () =>
    Effect.gen(function* () {
      const set = yield* asked('settings ip-filter set mode=whitelist whitelist=["10.0.0.0/8"] --json')
      assert.strictEqual(set.code, 0, set.stderr)
      assert.deepInclude(JSON.parse(set.stdout), { mode: "whitelist", whitelist: ["10.0.0.0/8"] })
      const thinking = yield* asked("settings thinking-budget set mode=custom customBudget=4096 --json")
      assert.deepInclude(JSON.parse(thinking.stdout), { mode: "custom", customBudget: 4096 })
      assert.include((yield* asked("settings system-prompt")).stdout, "prefixPrompt")
    })
  )
})
