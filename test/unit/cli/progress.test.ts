/** Bars, sizes, durations and names of files. */
import { assert, describe, it } from "@effect/vitest"
import { durationMs } from "../../../src/subjects/usage/commands/logs/times.ts"
import { numbered } from "../../../src/cli/commands/use/image/Names.ts"
import { formatOf } from "../../../src/cli/commands/use/speak.ts"
import { barLine } from "../../../src/cli/output/Progress.ts"
import { sizeText } from "../../../src/cli/output/Size.ts"
import { harmless } from "../../../src/kernel/text/TerminalText.ts"
import { widthOf } from "../../../src/cli/output/Table.ts"

const half = { label: "lines.jsonl", bytes: 52_428_800, totalBytes: 104_857_600, elapsedMs: 5_000 }

describe("a bar", () => {
  it("shows how far it is, how fast, and how long it takes", () => {
    assert.strictEqual(
      barLine(half, 120),
      `lines.jsonl [${"█".repeat(20)}${"·".repeat(20)}]  50 %  50.0 MiB of 100.0 MiB  10.0 MiB/s  0:05`
    )
  })

  it("is never wider than the terminal, and goes from nothing to everything", () => {
    for (const label of ["x", "a-very-long-name-".repeat(20), "日本".repeat(40), "\u001b[2J\r"]) {
      for (const columns of [20, 40, 60, 80, 200]) {
        for (const [bytes, totalBytes] of [
          [0, 10],
          [5, 10],
          [10, 10],
          [11, 10],
          [0, 0],
          [7, null],
          [1e12, 2e12]
        ] as const) {
          const line = barLine({ label, bytes, totalBytes, elapsedMs: 10_000 }, columns)
          assert.isAtMost(widthOf(line), columns, line)
          assert.strictEqual(line, harmless(line))
        }
      }
    }
    assert.include(barLine({ ...half, bytes: 0, elapsedMs: 0 }, 80), "  0 %")
    assert.include(barLine({ ...half, bytes: half.totalBytes }, 80), "100 %")
    assert.include(barLine({ ...half, totalBytes: 0, bytes: 0 }, 80), "100 %")
  })

  it("has no bar where the end is not known", () => {
    assert.strictEqual(barLine({ ...half, totalBytes: null }, 80), "lines.jsonl  50.0 MiB  10.0 MiB/s")
  })
})

describe("sizes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1_048_575, "1.0 MiB"],
    [1_572_864, "1.5 MiB"],
    [536_870_912, "512.0 MiB"],
    [1e15, "909.5 TiB"]
  ])("%d is %s", (bytes, text) => {
    assert.strictEqual(sizeText(bytes), text)
  })
})

describe("what is given", () => {
  it("is a time to keep a file", () => {
    assert.deepStrictEqual(["3600s", "12h", "7d", "2w", "90 min", "h", "7", "-1h", "1.5h"].map(durationMs), [
      3_600_000,
      43_200_000,
      604_800_000,
      1_209_600_000,
      5_400_000,
      null,
      null,
      null,
      null
    ])
  })

  it("is a name that says the format of sound", () => {
    assert.deepStrictEqual(["a.mp3", "a.WAV", "a.ogg", "a.txt", "wav", "-"].map(formatOf), [
      "mp3",
      "wav",
      "opus",
      null,
      null,
      null
    ])
  })

  it("is a name for each of several pictures", () => {
    assert.strictEqual(numbered("out.png", 0, 1), "out.png")
    assert.deepStrictEqual([numbered("a/out.png", 0, 2), numbered("a/out.png", 1, 2)], ["a/out-1.png", "a/out-2.png"])
    assert.strictEqual(numbered("a.b/out", 2, 3), "a.b/out-3")
  })
})
