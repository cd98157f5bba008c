#!/usr/bin/perl
# The smallest learner in Perl. Each iteration reads the weights, writes a gradient, and calls fsync. The gradient is that of the
# loss |w - 1|^2 / 2: all weights become 1.
# Usage: learner.pl DIR/model ITERATIONS
use strict;
use warnings;
use Errno qw(EINTR);
use IO::Handle;

@ARGV == 2 && $ARGV[1] =~ /^[1-9]\d*$/ or die "usage: $0 DIR/model ITERATIONS\n";
my ($path, $iterations) = @ARGV;
open(my $model, '+<:raw', $path) or die "$path: $!\n";
my $size = -s $model or die "$path is empty\n";

# Repeats sysread or syswrite until all bytes are moved, since one call may move only a part of the bytes.
sub whole {
    my ($name, $some) = @_;
    sysseek($model, 0, 0) or die "seek: $!\n";
    for (my $done = 0; $done < $size;) {
        my $count = $some->($done);
        next if !defined $count && $! == EINTR;
        die "$name: $!\n" unless defined $count;
        die "$name: $path ended after $done of $size bytes\n" unless $count;
        $done += $count;
    }
}

for my $iteration (1 .. $iterations) {
    my $weights = '';
    whole('read', sub { sysread($model, $weights, $size - $_[0], $_[0]) });
    my $gradient = pack('f*', map { $_ - 1 } unpack('f*', $weights));
    whole('write', sub { syswrite($model, $gradient, $size - $_[0], $_[0]) });
    $model->sync or die "fsync: $!\n";
    printf "%d: the first weight was %g\n", $iteration, unpack('f', $weights);
}
close($model) or die "close: $!\n";
