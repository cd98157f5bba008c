// The view of a model on the page, computed from the statuses in model.json: rates, learners, waits, faults and the charts'
// samples. No function here accesses an element of the page.
'use strict';

const SAMPLES = 600;
const RATE_READINGS = 6;
const NAMED_WAITING = 8;
const SERIES = ['pushed', 'pulled', 'updates', 'waiting', 'behind', 'stall', 'bubble', 'staleness'];

/**
 * The rate at which a counter has grown during its last readings. All readings are discarded if the counter or the clock goes
 * back.
 */
class Rate {
  #readings = [];

  add(atMs, value) {
    const last = this.#readings.at(-1);
    if (last && last.atMs === atMs) return;
    if (last && (value < last.value || atMs < last.atMs)) this.#readings = [];
    this.#readings = this.#readings.concat({atMs, value}).slice(-RATE_READINGS);
  }

  /** Returns null before the second reading. */
  perSecond() {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    return first === last ? null : (last.value - first.value) * 1000 / (last.atMs - first.atMs);
  }
}

/** The state of a model on the page. */
class Model {
  // A Map, because the keys are names from the model, and an object already has names such as "constructor".
  #rates = new Map();
  #unused = new Set();
  /**
   * The samples of the last ten minutes. `at` contains the times of the samples. Each series contains one value for each sample:
   * null if the value is unknown.
   */
  samples = Object.assign({at: [], learners: new Map()}, Object.fromEntries(SERIES.map(series => [series, []])));

  /**
   * Processes an answer of model.json. Returns the answer with the values that are computed from this answer and the earlier
   * answers.
   */
  add(answer) {
    this.#unused = new Set(this.#rates.keys());
    const shards = answer.shards.map(shard => this.#shard(shard));
    const learners = this.#learners(shards, answer.at);
    const waits = answer.model ? waitsAmong(learners, stalenessRounds(answer.model.consistency)) : [];
    this.#unused.forEach(key => this.#rates.delete(key));
    const now = {...answer, shards, learners, waits, totals: totalsOf(shards), faults: faultsOf(shards, learners, answer.mount || {})};
    now.series = seriesOf(now);
    this.#sample(now);
    return now;
  }

  #rate(key, atMs, value) {
    this.#unused.delete(key);
    if (!this.#rates.has(key)) this.#rates.set(key, new Rate());
    const rate = this.#rates.get(key);
    if (value !== undefined) rate.add(atMs, value);
    return rate.perSecond();
  }

  #shard(status) {
    const shard = {...status, answers: status.readAt !== undefined && status.failure === undefined};
    if (shard.answers) {
      shard.pushRate = this.#rate(`shard ${shard.shard} pushed`, shard.readAt, shard.pushedBytes);
      shard.pullRate = this.#rate(`shard ${shard.shard} pulled`, shard.readAt, shard.pulledBytes);
      shard.updateRate = this.#rate(`shard ${shard.shard} updates`, shard.readAt, shard.version && shard.version.min);
    }
    return shard;
  }

  /** Returns one object for each learner, which combines the reports of all shards about this learner. */
  #learners(shards, atMs) {
    const learners = new Map();
    for (const shard of shards) {
      for (const seen of shard.learners || []) {
        if (!learners.has(seen.learner)) {
          learners.set(seen.learner, {learner: seen.learner, state: 'live', shards: [], waitsFor: [], waitedFor: false,
            pushedBytes: 0, pulledBytes: 0, nonFinitePushes: 0});
        }
        merge(learners.get(seen.learner), shard.shard, seen);
      }
    }
    learners.forEach(learner => {
      learner.roundRate = this.#rate('learner ' + learner.learner, atMs, learner.clock && learner.clock.min);
    });
    return [...learners.values()];
  }

  #sample(now) {
    const samples = this.samples;
    const append = (values, value) => values.concat(value).slice(-SAMPLES);
    const length = samples.at.length;
    samples.at = append(samples.at, now.at);
    for (const series of SERIES) samples[series] = append(samples[series], now.series[series]);
    // The rates of a learner that has left are discarded.
    samples.learners = new Map(now.learners.map(each => [each.learner,
      append(samples.learners.get(each.learner) || new Array(length).fill(null), each.roundRate)]));
  }
}

function merge(learner, shard, seen) {
  learner.shards.push(shard);
  if (seen.state === 'lost') learner.state = 'lost';
  if (seen.clock) {
    const {min, max} = learner.clock || seen.clock;
    learner.clock = {min: Math.min(min, seen.clock.min), max: Math.max(max, seen.clock.max)};
  }
  if (seen.behind && seen.behind.rounds > 0) {
    const {rounds, ms} = learner.behind || {rounds: 0, ms: 0};
    learner.behind = {rounds: Math.max(rounds, seen.behind.rounds), ms: Math.max(ms, seen.behind.ms || 0)};
    learner.waitedFor ||= Boolean(seen.behind.waitedFor);
  }
  learner.pushedBytes += seen.pushedBytes || 0;
  learner.pulledBytes += seen.pulledBytes || 0;
  learner.nonFinitePushes += seen.nonFinitePushes || 0;
}

/** Returns the number of rounds by which a learner is allowed to be ahead of another learner. */
function stalenessRounds(consistency) {
  const [mode, rounds] = consistency.split(':');
  return mode === 'ssp' ? Number(rounds) : 0;
}

/**
 * Returns an object for each learner for which other learners wait. Adds the name of this learner to `waitsFor` of the waiting
 * learners.
 */
function waitsAmong(learners, staleness) {
  return learners.filter(learner => learner.waitedFor).map(slow => {
    const from = slow.clock ? slow.clock.min : 0;
    const waiting = learners.filter(fast => fast !== slow && fast.clock && fast.clock.max - from > staleness);
    waiting.forEach(fast => fast.waitsFor.push(slow.learner));
    return {for: slow.learner, lost: slow.state === 'lost', ...slow.behind,
      learners: waiting.slice(0, NAMED_WAITING).map(fast => fast.learner), more: Math.max(0, waiting.length - NAMED_WAITING)};
  });
}

/** Returns the number of shards that answer, and the lowest and the highest version of all shards that have answered. */
function totalsOf(shards) {
  const versions = shards.filter(shard => shard.version).map(shard => shard.version);
  return {answering: shards.filter(shard => shard.answers).length, version: versions.length === 0 ? null
    : {min: Math.min(...versions.map(version => version.min)), max: Math.max(...versions.map(version => version.max))}};
}

/** Returns the value of each series. A value of the model is known only if all shards answer. */
function seriesOf({shards, learners, mount}) {
  const all = shards.length > 0 && shards.every(shard => shard.answers);
  const values = key => all && shards.every(shard => typeof shard[key] === 'number') ? shards.map(shard => shard[key]) : null;
  const sum = key => values(key) && values(key).reduce((a, b) => a + b);
  const iteration = (mount && mount.iteration) || {};
  const known = value => value === undefined ? null : value;
  return {
    pushed: sum('pushRate'), pulled: sum('pullRate'), updates: values('updateRate') && Math.min(...values('updateRate')),
    waiting: sum('waiting'),
    behind: all ? Math.max(0, ...learners.map(learner => learner.behind ? learner.behind.ms : 0)) : null,
    stall: known(iteration.stallMs), bubble: known(iteration.bubbleMs), staleness: known(iteration.stalenessRounds),
  };
}

function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns the faults, each one sentence: an error if the model cannot be used or data can be lost, otherwise a warning. */
function faultsOf(shards, learners, mount) {
  const faults = [];
  const error = text => faults.push({severity: 'error', text});
  const warning = text => faults.push({severity: 'warning', text});
  for (const shard of shards) {
    const name = 'shard ' + shard.shard;
    if (shard.failure) error(`${name} does not answer for ${shard.silentSeconds} s: ${shard.failure}`);
    if (!shard.answers) continue;
    const before = faults.length;
    const {stopped, records = {}, checkpoint = {}, journal = {}, replication = {}} = shard;
    if (stopped) error(`${name}: ${stopped}`);
    if (records.failure) error(`${name} refuses pushes: ${records.failure}`);
    if (checkpoint.failure) warning(`${name}: the last checkpoint failed: ${checkpoint.failure}`);
    if (journal.bytes > journal.limitBytes) {
      warning(`${name}: the journal is larger than its limit, because no checkpoint was complete`);
    }
    if (replication.role === 'backup' || replication.role === 'standby') {
      error(`${name}: the process at its address is a ${replication.role}, and serves no learner`);
    } else if (replication.backups) {
      replication.backups.filter(backup => backup.away)
        .forEach(backup => warning(`${name}: the backup at ${backup.address} is away: ${backup.away}`));
      if (!replication.backups.some(backup => backup.inSync)) {
        warning(`${name} has no backup in sync; if its process fails, pushes are lost`);
      }
    }
    if (shard.serving === false && faults.length === before) {
      error(`${name} serves no learner at the moment; its log has the reason`);
    }
  }
  for (const {learner, state, nonFinitePushes} of learners) {
    if (state === 'lost') warning(`learner ${learner} has lost its connection; it leaves when its lease expires`);
    if (nonFinitePushes > 0) warning(`${counted(nonFinitePushes, 'gradient')} of learner ${learner} had a NaN or an infinity`);
  }
  if (mount.rollbacks > 0) {
    warning(`this mount: shards have gone back to earlier weights, and this learner has lost ${counted(mount.roundsTakenBack, 'round')}`);
  }
  if (mount.lastError) warning('this mount, its last error: ' + mount.lastError);
  return faults;
}
