/** Forms of one reading: a field is there once, under one name. */
import { assert, describe, it } from "@effect/vitest"
import { read } from "../../../../src/entry/files/UploadForm.ts"
import { makeFormBody } from "../../../../src/entry/forms/FormBody.ts"

const file = (name: string) => ({ name, filename: "a.wav", contentType: "audio/wav" })

describe("the fields of a form", () => {
  const problemOf = (...names: ReadonlyArray<string>): string | null => {
    const body = makeFormBody()
    for (const name of names) {
      if (name.startsWith("file:")) body.file(file(name.slice(5)))
      else body.field(name, "x")
    }
    return body.problem()?.param ?? null
  }

  it.each<[ReadonlyArray<string>, string | null]>([
    [["model", "prompt", "file:file"], null],
    [["include[]", "include[]"], null],
    [["input_reference[image_url]", "input_reference[file_id]"], null],
    [["file:image", "file:image"], null],
    [["model", "model"], "model"],
    [["model", "model[]"], "model[]"],
    [["model[]", "model"], "model"],
    [["model", "model[a]"], "model[a]"],
    [["input_reference[image_url]", "input_reference[image_url]"], "input_reference[image_url]"],
    [["file:input_reference", "input_reference[file_id]"], "input_reference[file_id]"],
    [["input_reference[file_id]", "file:input_reference"], "input_reference"],
    [["file", "file:file"], "file"],
    [["file:file", "file"], "file"]
  ])("%j: %s is repeated", (names, repeated) => assert.strictEqual(problemOf(...names), repeated))
})

describe("the form of an uploaded file", () => {
  const outcome = (...names: ReadonlyArray<string>): string => {
    let said = ""
    const parser = read("multipart/form-data; boundary=b", 1_000, {
      chunk: () => {},
      problem: (problem) => {
        said = typeof problem === "string" ? problem : problem.param
      },
      done: ({ fields }) => {
        said = `done ${[...fields.keys()].join()}`
      }
    })
    const part = (name: string, more: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\nx\r\n`
    const parts = names.map((name) => part(name, "")).join("") + part("file", '; filename="a"')
    parser.write(Buffer.from(`${parts}--b--\r\n`))
    parser.end()
    return said
  }

  it("has each field once, in its own spelling", () => {
    assert.strictEqual(outcome("purpose", "expires_after[anchor]"), "done purpose,expires_after[anchor]")
    assert.strictEqual(outcome("purpose", "purpose"), "purpose")
    assert.strictEqual(outcome("purpose", "Purpose"), "Purpose")
    assert.strictEqual(outcome("Expires_After[seconds]"), "Expires_After[seconds]")
  })
})
