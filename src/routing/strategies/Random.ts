/**
 * `random`: a shuffled deck is dealt card by card. No target comes again before all were dealt, and the last card of one deck is not the
 * first of the next. The fallbacks are the cards still in the deck, then those already dealt in a random order.
 *
 * A card whose target may not be called now waits in the deck for its return; a target that joins comes in with the next deck.
 */
import type { Candidate } from "../engine/Candidate.ts"
import type { Strategy } from "../engine/Strategy.ts"
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import { ordering } from "./Ordering.ts"

const newDeck = (
  keys: ReadonlyArray<string>,
  lastDealt: string | null,
  random: SeededRandom
): ReadonlyArray<string> => {
  const deck = random.shuffle(keys)
  const first = deck[0]
  if (first === undefined || first !== lastDealt || deck.length < 2) return deck
  // It changes places with any of the others: all decks that do not begin with it stay equally likely.
  const place = 1 + random.below(deck.length - 1)
  return deck.map((key, index) => (index === 0 ? (deck[place] ?? key) : index === place ? first : key))
}

export const random: Strategy = ({ candidates, memory, random }) => {
  const { lastDealt } = memory
  const byKey = new Map<string, Array<Candidate>>()
  for (const candidate of candidates) {
    const same = byKey.get(candidate.key)
    if (same === undefined) byKey.set(candidate.key, [candidate])
    else same.push(candidate)
  }
  const goesOn = memory.deck.some((key) => byKey.has(key))
  const deck = goesOn ? memory.deck : newDeck([...byKey.keys()], lastDealt, random)
  const playable = deck.filter((key) => byKey.has(key))
  const first = playable[0]
  if (first === undefined) return ordering(candidates, "no target", memory)
  const inDeck = new Set(playable)
  const dealt = random.shuffle([...byKey.keys()].filter((key) => !inDeck.has(key)))
  const keys = [...playable, ...dealt]
  return ordering(
    keys.flatMap((key) => byKey.get(key) ?? []),
    goesOn ? "next card of the deck" : "first card of a new deck",
    { ...memory, deck: deck.filter((key) => key !== first), lastDealt: first }
  )
}
