// Shows a model. Reads model.json each second. All text that comes from the model is set as text, never as HTML.
'use strict';

const PERIOD_MS = 1000;
const FIRST_PERIOD_MS = 100;
const TIMEOUT_MS = 5000;
const LONGEST_MS = 600_000;
const SHORTEST_MS = 60_000;
const SPARK_MS = 120_000;
const LONG_WAIT_MS = 1000;
const SVG = 'http://www.w3.org/2000/svg';
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

const CHARTS = [
  {title: 'Pushed and pulled', lines: [['pushed', 'pushed'], ['pulled', 'pulled']], format: rate, nice: niceBytes},
  {title: 'Updates per second', lines: [['updates', '']], format: number},
  {title: 'Slowest learner is behind', lines: [['behind', '']], format: ms},
  {title: 'Commands that wait', lines: [['waiting', '']], format: number},
  {title: 'Stall in the last fsync', lines: [['stall', '']], format: ms, mount: true},
  {title: 'Bubble before the last pull', lines: [['bubble', '']], format: ms, mount: true},
  {title: 'Staleness', lines: [['staleness', '']], format: rounds, mount: true},
];

const known = new Model();
const {samples} = known;
let lastAnswer = null;
let hoverAt = null;

// ---- text

function number(value) {
  if (value === null || value === undefined) return '-';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits}).replaceAll(',', '\u202f');
}

function bytes(value) {
  if (value === null || value === undefined) return '-';
  const unit = value < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(value) / Math.log(1024)));
  return number(unit === 0 ? Math.round(value) : value / 1024 ** unit) + '\u00a0' + UNITS[unit];
}

function rate(value) {
  return value === null || value === undefined ? '-' : bytes(value) + '/s';
}

function ms(value) {
  if (value === null || value === undefined) return '-';
  return value < 1000 ? number(value) + '\u00a0ms' : number(value / 1000) + '\u00a0s';
}

function rounds(value) {
  return value === null || value === undefined ? '-' : counted(value, 'round');
}

function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return s + '\u00a0s';
  if (s < 7200) return Math.floor(s / 60) + '\u00a0min';
  if (s < 172_800) return Math.floor(s / 3600) + '\u00a0h';
  return Math.floor(s / 86_400) + '\u00a0days';
}

function counted(count, noun) {
  return number(count) + '\u00a0' + noun + (count === 1 ? '' : 's');
}

function range(values) {
  return values.min === values.max ? number(values.min) : number(values.min) + ' to ' + number(values.max);
}

// ---- elements

const byId = id => document.getElementById(id);

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function svg(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Gives `parent` one child for each key, in this order. `make` creates a missing child, and `update` updates every child. */
function keyed(parent, items, keyOf, make, update) {
  const old = new Map([...parent.children].map(child => [child.dataset.key, child]));
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let child = old.get(key);
    if (child) {
      old.delete(key);
    } else {
      child = make(item);
      child.dataset.key = key;
    }
    if (child === next) {
      next = next.nextElementSibling;
    } else {
      parent.insertBefore(child, next);
    }
    update(child, item);
  }
  old.forEach(child => child.remove());
}

function makeRow(table, firstText) {
  const row = element('tr');
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    const cell = element(i === 0 ? 'th' : 'td', head.className);
    if (i === 0) {
      cell.scope = 'row';
      cell.textContent = firstText;
    } else {
      cell.dataset.label = head.textContent.split(':')[0];
      const inner = element('div', 'cell');
      inner.append(element('span'), element('span', 'sub'));
      cell.append(inner);
    }
    row.append(cell);
  });
  return row;
}

/** Sets the text of a cell and the quiet line below it. Returns the element with both, and with a drawing if there is one. */
function fill(row, index, text, sub = '') {
  const inner = row.cells[index].firstElementChild;
  const [main, quiet] = inner.querySelectorAll('span');
  setText(main, text);
  setText(quiet, sub);
  return inner;
}

/** Returns the drawing in a cell; creates it if necessary. */
function drawing(inner, className, width, height) {
  let found = inner.querySelector('svg');
  if (!found) {
    found = svg('svg', {class: className, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img'});
    inner.prepend(found);
  }
  return found;
}

// ---- the model

function showModel(model) {
  const facts = model.model;
  if (facts) {
    document.title = facts.model + ' - modeldisk';
    setText(byId('name'), facts.model);
    setText(byId('facts'), [bytes(facts.sizeBytes) + ' in ' + counted(facts.blocks, 'block') + ' of ' + bytes(facts.blockSizeBytes),
      counted(facts.shards, 'shard'), facts.aggregator, facts.consistency].join(', '));
  }
  showFaults(model);
  showNumbers(model);
  showLearners(model);
  showShards(model);
  showMount(model.mount);
  setText(byId('seen'), 'Seen by ' + model.seenBy + '.');
  keyed(byId('notes'), model.notes, note => note, note => element('li', '', note), () => {});
}

function showFaults(model) {
  keyed(byId('faults'), model.faults, fault => fault.severity + fault.text.replace(/for \d+ s/, ''), fault => {
    const item = element('li', 'fault ' + fault.severity);
    item.append(element('b', '', fault.severity === 'error' ? 'Error' : 'Warning'), element('span'));
    return item;
  }, (item, fault) => setText(item.lastElementChild, fault.text));
}

function showNumbers(model) {
  const shards = model.shards;
  const {answering, version} = model.totals;
  const lost = model.learners.filter(learner => learner.state === 'lost').length;
  const followers = Math.max(0, ...shards.map(shard => shard.followers || 0));
  const checkpoint = shards.length > 0 && shards[0].checkpoint ? shards[0].checkpoint : null;
  const missing = Math.max(0, ...shards.map(shard => shard.learnersMissing || 0));
  const numbers = [
    ['shards', answering + ' of ' + shards.length, answering === shards.length ? 'all answer' : 'answer'],
    ['learners', number(model.learners.length), [lost ? lost + ' lost' : 'none lost', missing ? missing + ' must still join' : '',
      followers ? counted(followers, 'follower') : ''].filter(Boolean).join(', ')],
    ['version', version ? number(version.min) : '-', version ? 'highest ' + number(version.max) : ''],
    ['updates/s', number(model.series.updates), 'of the slowest block'],
    ['pushed/s', rate(model.series.pushed), 'gradients'],
    ['pulled/s', rate(model.series.pulled), 'weights'],
    ['waiting', number(model.series.waiting), 'commands'],
    ['last checkpoint', checkpoint && checkpoint.number > 0 ? duration(checkpoint.ageSeconds) + ' ago' : 'none',
      checkpoint && checkpoint.number > 0 ? 'of round ' + number(checkpoint.round)
        : checkpoint ? 'none is complete yet' : 'weights are only in memory'],
  ];
  keyed(byId('numbers'), numbers, each => each[0], each => {
    const tile = element('div');
    const value = element('dd');
    value.append(element('span'), element('small'));
    tile.append(element('dt', '', each[0]), value);
    return tile;
  }, (tile, each) => {
    setText(tile.lastElementChild.firstElementChild, each[1]);
    setText(tile.lastElementChild.lastElementChild, each[2]);
  });
}

function names(wait) {
  const some = wait.learners.join(', ') + (wait.more ? ' and ' + wait.more + ' more' : '');
  return some || 'a learner';
}

function showLearners(model) {
  const waits = byId('waits');
  // Only a long wait is coloured, because every round has short waits.
  waits.className = model.waits.some(wait => wait.ms >= LONG_WAIT_MS) ? 'some' : '';
  setText(waits, model.learners.length === 0 ? 'The model has no learners.' : model.waits.length === 0 ? 'No learner waits for another.'
    : model.waits.map(wait => `${names(wait)} ${wait.learners.length + wait.more > 1 ? 'wait' : 'waits'} for ${wait.for}`
      + `${wait.lost ? ', which has lost its connection' : ''}: ${counted(wait.rounds, 'round')}, ${ms(wait.ms)}.`).join(' '));
  const table = byId('learners');
  table.hidden = model.learners.length === 0;
  const front = Math.max(0, ...model.learners.map(learner => learner.clock ? learner.clock.max : 0));
  const sorted = model.learners.toSorted((a, b) => a.learner.localeCompare(b.learner, 'en', {numeric: true}));
  keyed(table.tBodies[0], sorted, learner => learner.learner, learner => makeRow(table, learner.learner), (row, learner) => {
    const lost = learner.state === 'lost';
    row.className = lost ? 'lost' : '';
    fill(row, 1, lost ? 'lost' : 'live', model.shards.length > learner.shards.length ? 'on shard ' + learner.shards.join(', ') : '')
      .className = 'cell state';
    const clock = fill(row, 2, learner.clock ? range(learner.clock) : 'no rounds');
    if (learner.clock) drawClock(drawing(clock, 'bar', 160, 10), learner.clock, front);
    fill(row, 3, learner.behind ? counted(learner.behind.rounds, 'round') : '-', learner.behind ? ms(learner.behind.ms) : '');
    const spark = drawing(fill(row, 4, number(learner.roundRate)), 'spark', 120, 22);
    drawSpark(spark, samples.learners.get(learner.learner));
    fill(row, 5, bytes(learner.pushedBytes));
    fill(row, 6, bytes(learner.pulledBytes));
    fill(row, 7, learner.waitedFor ? 'waited for' : learner.waitsFor.length ? 'for ' + learner.waitsFor.join(', ') : '-');
  });
}

/**
 * Draws the last eight rounds up to `front`, the round of the fastest learner. A round that this learner has pushed is drawn
 * full, and half if it has pushed the round only in some blocks.
 */
function drawClock(into, clock, front) {
  const first = Math.max(1, front - 7);
  const rects = [];
  for (let i = 0; i < 8; i++) {
    const height = clock.min >= first + i ? 10 : clock.max >= first + i ? 5 : 0;
    if (height) rects.push(svg('rect', {x: i * 20 + 1, y: 10 - height, width: 18, height}));
  }
  into.replaceChildren(...rects);
  into.setAttribute('aria-label', 'rounds pushed: ' + range(clock) + '; the fastest learner: ' + number(front));
}

function role(shard) {
  const replication = shard.replication || {};
  const known = shard.coordinator;
  const epoch = replication.epoch || (known && known.epoch);
  const main = (replication.role || 'primary') + (epoch ? ', epoch ' + epoch : '');
  const sub = [];
  if (known && known.primary) sub.push('at ' + known.primary + (known.alive ? '' : ' (gone)'));
  (replication.backups || []).forEach(backup => sub.push('backup ' + backup.address + ' '
    + (backup.away ? 'is away' : backup.inSync ? 'is in sync' : 'catches up, ' + counted(backup.blocksToSend, 'block') + ' to send')));
  const backups = new Set((replication.backups || []).map(backup => backup.address));
  if (known) known.standbys.filter(each => !backups.has(each)).forEach(each => sub.push('standby ' + each));
  return [main, sub.join('; ')];
}

function saved(shard) {
  const checkpoint = shard.checkpoint;
  const main = {memory: 'memory only', checkpoint: 'checkpoints', journal: 'journal', replica: 'backups'}[shard.durability] || '-';
  const sub = [];
  if (shard.journal) sub.push(bytes(shard.journal.bytes) + ' of ' + bytes(shard.journal.limitBytes));
  if (checkpoint) {
    sub.push(checkpoint.writing ? 'writes one now' : checkpoint.number > 0 ? 'last ' + duration(checkpoint.ageSeconds) + ' ago' : 'none yet');
  }
  return [main, sub.join(', ')];
}

function showShards(model) {
  const table = byId('shards');
  keyed(table.tBodies[0], model.shards, shard => shard.shard, shard => makeRow(table, 'shard ' + shard.shard), (row, shard) => {
    row.className = shard.answers ? '' : 'silent';
    const [main, sub] = role(shard);
    fill(row, 1, shard.answers ? main : shard.failure ? 'does not answer' : shard.watched ? 'not read yet' : 'not watched',
      shard.failure ? 'for ' + duration(shard.silentSeconds) : sub).className = 'cell state';
    const versions = fill(row, 2, shard.version ? range(shard.version) : '-');
    if (shard.version && shard.version.strip) drawStrip(drawing(versions, 'strip', 64, 10), shard.version);
    fill(row, 3, number(shard.updateRate));
    fill(row, 4, rate(shard.pushRate), shard.pushedBytes === undefined ? '' : bytes(shard.pushedBytes) + ' in all');
    fill(row, 5, rate(shard.pullRate), shard.pulledBytes === undefined ? '' : bytes(shard.pulledBytes) + ' in all');
    fill(row, 6, shard.waiting === undefined ? '-' : number(shard.waiting));
    fill(row, 7, ...saved(shard));
    fill(row, 8, shard.uptimeSeconds === undefined ? '-' : duration(shard.uptimeSeconds));
  });
}

/** Draws the blocks from left to right; those that have more updates than the lowest version are dark. */
function drawStrip(into, version) {
  const width = 64 / version.strip.length;
  into.replaceChildren(...version.strip.map((ahead, i) =>
    svg('rect', {x: i * width, y: 0, width: width + 0.02, height: 10, class: ahead > 0 ? 'ahead' : ''})));
  into.setAttribute('aria-label', 'versions of the blocks: ' + range(version));
}

function showMount(mount) {
  byId('mount').hidden = !mount;
  if (!mount) return;
  setText(byId('bottleneck'), mount.bottleneck ? 'Bottleneck: ' + mount.bottleneck : '');
  const iteration = mount.iteration || {};
  const facts = [
    ['directory', mount.dir], [mount.follower ? 'follower' : 'learner', mount.learner], ['exchange', mount.exchange],
    ['dtype', mount.dtype], ['datamover', mount.datamover.split(' ')[0]], ['training', mount.training ? 'yes' : 'no process has the model open'],
    ['iterations', number(mount.iterations)], ['last fsync', ms(mount.lastFsyncMs)], ['last push', ms(mount.lastPushMs)],
    ['last pull', ms(mount.lastPullMs)], ['stall in all', iteration.totalStallMs === undefined ? '-' : ms(iteration.totalStallMs)],
    ['mean bubble', ms(iteration.meanBubbleMs)], ['mean staleness', rounds(iteration.meanStalenessRounds)],
    ['age of the weights', ms(iteration.weightsAgeMs)],
  ];
  keyed(byId('mount-facts'), facts, each => each[0], each => {
    const pair = element('div');
    pair.append(element('dt', '', each[0]), element('dd'));
    return pair;
  }, (pair, each) => setText(pair.lastElementChild, each[1]));
}

// ---- the charts

function path(times, values, from, to, top, width, height) {
  let text = '';
  let pen = 'M';
  values.forEach((value, i) => {
    if (value === null || times[i] < from) {
      pen = 'M';
      return;
    }
    const x = (times[i] - from) / (to - from) * width;
    const y = height - 1 - Math.min(1, value / top) * (height - 2);
    text += pen + x.toFixed(1) + ' ' + y.toFixed(1);
    // A sample after a gap begins a new line. The line gets a minimum length, because it would otherwise be invisible.
    if (pen === 'M') text += 'h0.1';
    pen = 'L';
  });
  return text;
}

function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(each => each * power).find(each => each >= value * 0.999);
}

function niceBytes(value) {
  if (!(value > 0)) return 1024;
  const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
  return nice(value / unit) * unit;
}

function drawSpark(into, values) {
  if (!values) return;
  const to = samples.at.at(-1);
  const known = values.slice(-SPARK_MS / PERIOD_MS).filter(value => value !== null);
  const top = nice(Math.max(0, ...known));
  into.replaceChildren(svg('path', {class: 'line', d: path(samples.at, values, to - SPARK_MS, to, top, 120, 22)}));
  into.setAttribute('aria-label', 'rounds per second in the last two minutes, at most ' + number(Math.max(0, ...known)));
}

function makeChart(chart) {
  const figure = element('figure', 'chart');
  const caption = element('figcaption');
  caption.append(element('b', '', chart.title));
  chart.lines.forEach((_, i) => caption.append(element('span', i ? 'key two' : 'key')));
  const picture = svg('svg', {viewBox: '0 0 600 76', preserveAspectRatio: 'none', role: 'img'});
  const axis = element('div', 'axis');
  axis.append(element('span'), element('span'), element('span', '', 'now'));
  figure.append(caption, picture, axis);
  picture.addEventListener('pointermove', event => {
    const box = picture.getBoundingClientRect();
    hoverAt = (event.clientX - box.left) / box.width;
    drawCharts();
  });
  picture.addEventListener('pointerleave', () => {
    hoverAt = null;
    drawCharts();
  });
  return figure;
}

function drawCharts() {
  if (samples.at.length === 0) return;
  const to = samples.at.at(-1);
  const span = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Math.ceil((to - samples.at[0]) / 60_000) * 60_000));
  const from = to - span;
  const shown = CHARTS.filter(chart => !chart.mount || samples[chart.lines[0][0]].some(value => value !== null));
  let index = samples.at.length - 1;
  if (hoverAt !== null) {
    const time = from + hoverAt * span;
    samples.at.forEach((at, i) => {
      if (Math.abs(at - time) < Math.abs(samples.at[index] - time)) index = i;
    });
  }
  keyed(byId('charts'), shown, chart => chart.title, makeChart, (figure, chart) => drawChart(figure, chart, from, to, index));
}

function drawChart(figure, chart, from, to, index) {
  const [caption, picture, axis] = figure.children;
  const all = chart.lines.map(([key]) => samples[key]);
  const highest = Math.max(0, ...all.flat().filter(value => value !== null));
  const top = (chart.nice || nice)(highest);
  const parts = [svg('line', {class: 'grid', x1: 0, x2: 600, y1: 1, y2: 1}), svg('line', {class: 'grid', x1: 0, x2: 600, y1: 75, y2: 75})];
  all.forEach((values, i) => parts.push(svg('path', {class: i ? 'line two' : 'line', d: path(samples.at, values, from, to, top, 600, 76)})));
  if (hoverAt !== null) {
    const x = (samples.at[index] - from) / (to - from) * 600;
    parts.push(svg('line', {class: 'at', x1: x, x2: x, y1: 0, y2: 76}));
  }
  picture.replaceChildren(...parts);
  const texts = chart.lines.map(([, name], i) =>
    (name ? (i ? '\u2504 ' : '\u2500 ') + name + ' ' : '') + chart.format(all[i][index]));
  texts.forEach((text, i) => setText(caption.children[i + 1], text));
  picture.setAttribute('aria-label', chart.title + ': ' + texts.join(', ') + ', at most ' + chart.format(highest));
  setText(axis.children[0], Math.round((to - from) / 60_000) + ' min ago');
  setText(axis.children[1], hoverAt === null ? 'top: ' + chart.format(top) : new Date(samples.at[index]).toLocaleTimeString('en-GB'));
}

// ---- the data

async function read(file) {
  const response = await fetch(file, {cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS)});
  if (!response.ok) throw new Error(file + ': HTTP ' + response.status);
  return response.json();
}

async function update() {
  try {
    const model = known.add(await read('model.json'));
    lastAnswer = Date.now();
    byId('live').className = 'on';
    setText(byId('live'), 'live, ' + new Date(model.at).toLocaleTimeString('en-GB'));
    return model;
  } catch (failure) {
    // The page keeps the last answer and shows its age. The next attempt follows.
    byId('live').className = 'off';
    setText(byId('live'), 'no answer from this process' + (lastAnswer === null ? ''
      : ' for ' + duration((Date.now() - lastAnswer) / 1000)) + ': ' + failure.message);
    return null;
  }
}

async function run() {
  const model = await update();
  // The first answer contains no status yet, because its request only starts the reads of the shards.
  setTimeout(run, samples.at.length === 1 ? FIRST_PERIOD_MS : PERIOD_MS);
  if (model) {
    showModel(model);
    drawCharts();
  }
}

run();
