#!/bin/sh
# Encodes 20 s of video as H.264 and writes what each of its frames takes, in bytes and in coding order: a trace
# for `kind = "video"`.
#
#     scenarios/video/encode.sh FILE
#
# The pictures are a flight into the Mandelbrot set, which ffmpeg makes by itself, so the file is anybody's to
# use; their moments are not those of a film. It needs ffmpeg with libx264, as distributions package it.
set -eu
trace=${1:?which file the sizes are to be written to}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A stream without container, so that parameter sets count with the frames that carry them. One thread gives the
# same bits on every machine that has the same version of the encoder.
ffmpeg -nostdin -v error -f lavfi -i mandelbrot=size=320x180:rate=30 -t 20 \
    -c:v libx264 -pix_fmt yuv420p -crf 28 -g 60 -threads 1 "$folder/video.h264"
ffprobe -v error -f h264 -select_streams v:0 -show_entries packet=size -of default=nw=1:nk=1 \
    "$folder/video.h264" >"$folder/sizes"
test -s "$folder/sizes"
{
    echo "# frame sizes in bytes, coding order; 320x180, 30 frames a second, libx264, crf 28"
    cat "$folder/sizes"
} >"$folder/trace"
mv "$folder/trace" "$trace"
