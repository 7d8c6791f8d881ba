import { assert, describe, it } from "@effect/vitest"
import { commandOf } from "../../../../src/plane/compression/rtk/Command.ts"

const cases: ReadonlyArray<readonly [string, string | null]> = [
  ["git status", "git status"],
  ["cd /repo && npm test 2>&1 | tail -50", "npm test"],
  ["CI=1 FORCE_COLOR=0 npx vitest run src", "vitest run src"],
  ["sudo -u www /usr/bin/docker ps -a", "docker ps -a"],
  ["timeout 60 cargo test -- --nocapture", "cargo test -- --nocapture"],
  ["mkdir -p a; cd a; make -j4 > log.txt 2>&1", "make -j4 log.txt"],
  ["cat a.txt | grep foo", "grep foo"],
  ["tail -f a.log", "tail -f a.log"],
  ["cat a.txt", "cat a.txt"],
  ["npm test; git status", null],
  ["echo 'a; b | c' && ls", null],
  ["grep -n 'a && b' x", "grep -n 'a && b' x"],
  ["python3 - <<'EOF'\nimport os; os.system('git status')\nEOF", "python3 -"],
  ["(cd a && ls)", "ls)"],
  ["", null],
  ["   ", null],
  ["&& | ;", null]
]

describe("commandOf", () => {
  for (const [line, command] of cases) {
    it(`of ${JSON.stringify(line)} is ${JSON.stringify(command)}`, () => {
      assert.strictEqual(commandOf(line), command)
    })
  }

  it("reads no more than a part of a long line", () => {
    assert.strictEqual(commandOf(`ls ${"x".repeat(1_000_000)}`)?.length, 4_000)
  })
})
