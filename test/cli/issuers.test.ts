/** The commands about issuers that sign people in, against a running gateway. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import { startIssuer } from "../support/issuer/TestIssuer.ts"
import { typed } from "../unit/cli/inProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "gateway-issuers-"))
beforeAll(() => void vi.stubEnv("DATA_DIR", folder))
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const asked = Effect.fnUntraced(function* (words: string) {
  const { url } = yield* TestApp
  return yield* typed([...words.split(" "), "--url", url, "--gateway-key", adminKey], null)
})

const made = Effect.fnUntraced(function* (words: string) {
  const { code, stderr, stdout } = yield* asked(`${words} --json`)
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

layer(layerOf(), { excludeTestServices: true })("issuers", (it) => {
  it.scoped("are added, shown, tested, changed and removed by name", () =>
    Effect.gen(function* () {
      const directory = yield* startIssuer
      const { team } = yield* made("teams add Research")
      const { issuer } = yield* made(
        `issuers add Company --issuer ${directory.url} --client-id gateway --domain EXAMPLE.com`
      )
      assert.deepInclude(issuer, {
        kind: "oidc",
        allowedDomains: ["example.com"],
        defaultRole: "member",
        enabled: true
      })
      assert.isTrue(issuer.redirectUri.endsWith(`/api/sign-in/${issuer.id}/callback`))
      const rules = "--group a=b=lead:Research --group staff=:Research --group admins=admin"
      const edited = (yield* made(`issuers edit Company ${rules} --default-role none --domain all`)).issuer
      assert.deepStrictEqual(edited.groups, [
        { group: "a=b", role: "lead", team: team.id },
        { group: "staff", role: null, team: team.id },
        { group: "admins", role: "admin", team: null }
      ])
      assert.deepInclude(edited, { defaultRole: null, allowedDomains: [] })
      assert.include((yield* asked("issuers show Company")).stdout, "a=b = lead")
      assert.isNull(edited.scim)
      const pushing = (yield* made("issuers edit Company --scim oid=externalId:Research")).issuer
      assert.deepStrictEqual(pushing.scim, { claim: "oid", attribute: "externalId", parent: team.id })
      assert.include((yield* asked("issuers show Company")).stdout, `oid = externalId:${team.id}`)
      assert.strictEqual((yield* asked("issuers edit Company --scim oid=mail")).code, 2)
      assert.isNull((yield* made("issuers edit Company --scim none")).issuer.scim)
      assert.include((yield* asked("issuers list")).stdout, directory.url)
      assert.strictEqual((yield* asked("issuers test Company")).code, 0)
      assert.isFalse((yield* made("issuers disable Company")).issuer.enabled)
      assert.isTrue((yield* made("issuers enable Company")).issuer.enabled)
      yield* Effect.promise(directory.stop)
      const away = yield* asked("issuers test Company")
      assert.strictEqual(away.code, 1)
      assert.include(away.stderr, "could not be asked")
      assert.strictEqual((yield* asked("issuers edit Company --group nothing")).code, 2)
      assert.strictEqual((yield* asked("issuers edit Company")).code, 2)
      assert.strictEqual((yield* asked("issuers remove Company --yes")).code, 0)
      assert.deepStrictEqual((yield* made("issuers list")).issuers, [])
    })
  )
})
