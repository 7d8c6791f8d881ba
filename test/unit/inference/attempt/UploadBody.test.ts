/** Bodies with files in them: their announced length is true, and each call reads them anew. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type UploadBody, uploadBody } from "../../../../src/plane/attempt/UploadBody.ts"
import type { Upload } from "../../../../src/plane/request/Uploads.ts"
import type { Payload } from "../../../../src/wire/WireCodec.ts"

const upload = (bytes: Buffer): Upload => ({
  bytes: bytes.length,
  head: bytes.subarray(0, 4_096),
  chunks: async function* (chunkBytes) {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
})

const whole = async ({ body }: UploadBody): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of body.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const made = (payload: Payload, files: ReadonlyArray<Buffer>): UploadBody => {
  const body = uploadBody(payload, files.map(upload), "bound")
  assert.isNotNull(body)
  return body!
}

describe("a body with files", () => {
  it("is a form whose names cannot leave their quotes", async () => {
    const form = made(
      {
        type: "form",
        parts: [
          { name: 'a"\r\nX: y', value: "1" },
          { name: "file", upload: 0, filename: 'b"c.wav', contentType: "audio/wav" }
        ]
      },
      [Buffer.from("RIFF")]
    )
    assert.strictEqual(form.contentType, "multipart/form-data; boundary=bound")
    assert.strictEqual(
      (await whole(form)).toString(),
      '--bound\r\nContent-Disposition: form-data; name="a%22%0D%0AX: y"\r\n\r\n1\r\n' +
        '--bound\r\nContent-Disposition: form-data; name="file"; filename="b%22c.wav"\r\nContent-Type: audio/wav\r\n\r\nRIFF\r\n' +
        "--bound--\r\n"
    )
  })

  it("is as long as it says, the same each time, and exact in base64", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.nat(10), fc.constantFrom(65_534, 65_535, 65_536, 131_071)),
        fc.string(),
        async (size, text) => {
          const file = Buffer.alloc(size, 7)
          const body = made(
            {
              type: "pieces",
              contentType: "application/json",
              pieces: [text, { upload: 0, as: "base64" }, "é", { upload: 0, as: "bytes" }]
            },
            [file]
          )
          const first = await whole(body)
          assert.strictEqual(first.length, body.body.bytes)
          assert.isTrue(
            first.equals(
              Buffer.concat([Buffer.from(text), Buffer.from(file.toString("base64")), Buffer.from("é"), file])
            )
          )
          assert.isTrue((await whole(body)).equals(first))
        }
      ),
      { numRuns: 30, seed: 7 }
    )
  })

  it("is none where it names a file that did not come", () => {
    assert.isNull(uploadBody({ type: "pieces", contentType: "a/b", pieces: [{ upload: 1, as: "bytes" }] }, [], "bound"))
  })
})
