/**
 * `random`: a shuffled deck is dealt card by card. No target comes again before all were dealt, and the last card of one deck is not the
 * first of the next. The fallbacks are the cards still in the deck, then those already dealt in a random order.
 *
 * A card whose target may not be called now waits in the deck for its return; a target that joins comes in with the next deck.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import type { Strategy } from "../candidate/Strategy.ts"
import type { SeededRandom } from "../../../kernel/SeededRandom.ts"
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

/** The candidates by card. An account and model that occur twice, with reasoning and without, have two cards. */
const cardsOf = (candidates: ReadonlyArray<Candidate>): ReadonlyMap<string, Candidate> => {
  const cards = new Map<string, Candidate>()
  for (const candidate of candidates) {
    let card = candidate.key
    for (let copy = 2; cards.has(card); copy += 1) card = `${candidate.key} ${copy}`
    cards.set(card, candidate)
  }
  return cards
}

export const random: Strategy = ({ candidates, memory, random }) => {
  const { lastDealt } = memory
  const byKey = cardsOf(candidates)
  const goesOn = memory.deck.some((key) => byKey.has(key))
  const deck = goesOn ? memory.deck : newDeck([...byKey.keys()], lastDealt, random)
  const playable = deck.filter((key) => byKey.has(key))
  const first = playable[0]
  if (first === undefined) return ordering(candidates, "no target", memory)
  const inDeck = new Set(playable)
  const dealt = random.shuffle([...byKey.keys()].filter((key) => !inDeck.has(key)))
  const keys = [...playable, ...dealt]
  return ordering(
    keys.flatMap((card) => byKey.get(card) ?? []),
    goesOn ? "next card of the deck" : "first card of a new deck",
    { ...memory, deck: deck.filter((key) => key !== first), lastDealt: first }
  )
}
