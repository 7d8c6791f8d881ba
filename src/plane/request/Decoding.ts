import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { forgetWhole } from "../../wire/json/outline/Outline.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"

/**
 * Decodes a request when its conversation is asked for. Large ones are forgotten once they are sent: the garbage collector would move them
 * again and again while the answer streams. A later caller has them read from the bytes anew.
 */
export class Decoding {
  readonly #codec: Pick<WireCodec, "decodeRequest">
  readonly #body: JsonObject
  #decoded: Either.Either<Conversation, InvalidRequest> | null = null

  constructor(codec: Pick<WireCodec, "decodeRequest">, body: JsonObject) {
    this.#codec = codec
    this.#body = body
  }

  conversation(): Either.Either<Conversation, InvalidRequest> {
    return (this.#decoded ??= this.#codec.decodeRequest(this.#body))
  }

  /** Forgets what was read, where the body is one that was read by its outline. */
  forget(): void {
    if (forgetWhole(this.#body)) this.#decoded = null
  }
}
